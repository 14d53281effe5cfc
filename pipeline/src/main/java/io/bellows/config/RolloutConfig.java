package io.bellows.config;

import java.io.Serializable;
import java.util.List;

/** Section {@code rollout}: how responses are sampled. */
public record RolloutConfig(
        @Setting(value = "1", min = 1, about = "Samples per prompt: the size of a group")
        int n,

        @Setting(value = "1.0", min = 0, about = "Sampling temperature")
        double temperature,

        @Setting(value = "-1", min = -1, about = "Sample among the k likeliest tokens; -1: all")
        int topK,

        @Setting(
                value = "1.0",
                max = 1,
                about = "Sample among the likeliest tokens that together have this probability")
        double topP,

        @Setting(value = "0.0", min = 0, max = 1, about = "Drop tokens less likely than this share of the likeliest")
        double minP,

        @Setting(value = "[]", about = "Texts that end a response, besides the model's own end tokens")
        List<String> stop,

        @Setting(
                value = "64",
                min = 1,
                about = "Sequences an engine decodes at once: its KV slots",
                onResume = OnResume.FREE)
        int maxNumSeqs,

        @Setting(value = "8192", min = 1, about = "Prompt tokens an engine takes in per step", onResume = OnResume.FREE)
        int maxNumBatchedTokens,

        @Setting(
                value = "null",
                min = 1,
                about = "Spark partitions of a rollout; null: from the cluster",
                onResume = OnResume.FREE)
        Integer numPartitions,

        @Setting(
                value = "null",
                about = "Micro-batches of the log-probs before the update by token budget; null: actor.use_dynamic_bsz",
                onResume = OnResume.FREE)
        Boolean logProbUseDynamicBsz,

        @Setting(
                value = "null",
                min = 1,
                about = "Tokens of such a micro-batch; null: actor.ppo_max_token_len_per_gpu",
                onResume = OnResume.FREE)
        Integer logProbMaxTokenLenPerGpu,

        @Setting(
                value = "null",
                min = 1,
                about = "Rows of such a micro-batch; null: actor.ppo_micro_batch_size_per_gpu",
                onResume = OnResume.FREE)
        Integer logProbMicroBatchSizePerGpu,

        ValKwargs valKwargs)
        implements Serializable {

    /** Section {@code rollout.val_kwargs}: how validation samples. */
    public record ValKwargs(
            @Setting(value = "1", min = 1, about = "Samples per validation prompt")
            int n,

            @Setting(value = "0.0", min = 0, about = "Temperature of validation; 0: greedy")
            double temperature,

            @Setting(value = "-1", min = -1, about = "As rollout.top_k")
            int topK,

            @Setting(value = "1.0", max = 1, about = "As rollout.top_p")
            double topP,

            @Setting(value = "false", about = "Sample in validation; false: greedy")
            boolean doSample)
            implements Serializable {}
}
