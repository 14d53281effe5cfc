package io.bellows.config;

import java.io.Serializable;
import java.util.List;
import java.util.Map;

/** Section {@code data}: where prompts come from and how many make an iteration. */
public record DataConfig(
        @Setting(
                value = "[]",
                about = "Training files: Parquet, JSON lines; a list or one path, local or any Hadoop path")
        List<String> trainFiles,

        @Setting(value = "[]", about = "Held-out files for validation")
        List<String> valFiles,

        @Setting(
                value = "prompt",
                about = "Column of the prompt; datasets with a question column are recognised without it")
        String promptKey,

        @Setting(value = "completion", about = "Column of the completion that supervised fine-tuning learns")
        String responseKey,

        @Setting(
                value = "null",
                about = "Column of the reference answer, dots lead into objects; null: by the known layouts")
        String groundTruthKey,

        @Setting(value = "data_source", about = "Column that says which dataset a row belongs to")
        String rewardFnKey,

        @Setting(value = "null", about = "System message put before every prompt that has none")
        String systemPrompt,

        @Setting(value = "null", about = "Text put at the end of every prompt, such as verl's instruction for GSM8K")
        String promptSuffix,

        @Setting(value = "{}", about = "Variables handed to the chat template")
        Map<String, Object> applyChatTemplateKwargs,

        @Setting(value = "1024", min = 1, about = "Prompts (sft: rows) of one iteration")
        int trainBatchSize,

        @Setting(
                value = "null",
                min = 1,
                about = "Prompts of a round of dynamic sampling (algorithm.filter_groups); null: data.train_batch_size")
        Integer genBatchSize,

        @Setting(value = "512", min = 1, about = "Longest prompt in tokens")
        int maxPromptLength,

        @Setting(value = "512", min = 1, about = "Longest response in tokens")
        int maxResponseLength,

        @Setting(value = "true", about = "Shuffle the training rows anew each epoch")
        boolean shuffle,

        @Setting(value = "null", about = "Seed of the shuffle; null: trainer.seed")
        Long seed,

        @Setting(value = "false", about = "Drop prompts longer than data.max_prompt_length, and count them")
        boolean filterOverlongPrompts,

        @Setting(
                value = "error",
                oneOf = {"error"},
                about = "What a prompt that is too long and not filtered does")
        String truncation,

        @Setting(
                value = "fail",
                oneOf = {"fail", "skip"},
                about = "What a row that cannot be read does: fail the run, or be skipped and counted")
        String onBadRow,

        @Setting(value = "-1", min = -1, about = "Rows taken from the training files; -1: all")
        int trainMaxSamples,

        @Setting(value = "-1", min = -1, about = "Rows taken from the validation files; -1: all")
        int valMaxSamples)
        implements Serializable {}
