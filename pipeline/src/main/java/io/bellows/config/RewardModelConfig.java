package io.bellows.config;

import java.io.Serializable;

/** Section {@code reward_model}: a model that scores trajectories, for the reward function of that name. */
public record RewardModelConfig(
        @Setting(value = "false", about = "Ask a reward model about each trajectory")
        boolean enable,

        Model model,

        @Setting(
                value = "null",
                about = "Micro-batches of its scores by token budget; null: actor.use_dynamic_bsz",
                onResume = OnResume.FREE)
        Boolean useDynamicBsz,

        @Setting(
                value = "null",
                min = 1,
                about = "Tokens of such a micro-batch; null: actor.ppo_max_token_len_per_gpu",
                onResume = OnResume.FREE)
        Integer forwardMaxTokenLenPerGpu,

        @Setting(
                value = "null",
                min = 1,
                about = "Rows of such a micro-batch; null: actor.ppo_micro_batch_size_per_gpu",
                onResume = OnResume.FREE)
        Integer microBatchSizePerGpu)
        implements Serializable {

    /** Section {@code reward_model.model}: which one. */
    public record Model(
            @Setting(
                    value = "null",
                    about = "Hugging Face folder, saved for sequence classification with one label; with"
                            + " another tokenizer than the policy's it reads the messages by its own chat template")
            String path)
            implements Serializable {}
}
