package io.bellows.config;

import java.io.Serializable;

/** Section {@code critic}: the model that values tokens, its loss and its optimizer. */
public record CriticConfig(
        @Setting(value = "null", about = "Train a critic; null: when algorithm.adv_estimator is gae")
        Boolean enable,

        Model model,

        @Setting(value = "null", min = 1, about = "Prompts of one optimizer step; null: actor.ppo_mini_batch_size")
        Integer ppoMiniBatchSize,

        @Setting(value = "null", min = 1, about = "Passes over the batch of an iteration; null: actor.ppo_epochs")
        Integer ppoEpochs,

        @Setting(value = "0.5", about = "How far a value may move from that before the update, above 0")
        double cliprangeValue,

        @Setting(
                value = "null",
                oneOf = {
                    "token-mean",
                    "token-sum",
                    "seq-mean-token-sum",
                    "seq-mean-token-mean",
                    "seq-mean-token-sum-norm"
                },
                about = "How the losses of tokens become one number; null: actor.loss_agg_mode")
        String lossAggMode,

        @Setting(
                value = "null",
                about = "Micro-batches by token budget; null: actor.use_dynamic_bsz",
                onResume = OnResume.FREE)
        Boolean useDynamicBsz,

        @Setting(value = "32768", min = 1, about = "Tokens of a micro-batch of the update", onResume = OnResume.FREE)
        int ppoMaxTokenLenPerGpu,

        @Setting(
                value = "null",
                min = 1,
                about = "Rows of a micro-batch of the update; null: actor.ppo_micro_batch_size_per_gpu",
                onResume = OnResume.FREE)
        Integer ppoMicroBatchSizePerGpu,

        @Setting(
                value = "null",
                min = 1,
                about = "Tokens of a micro-batch of the values; null: critic.ppo_max_token_len_per_gpu",
                onResume = OnResume.FREE)
        Integer forwardMaxTokenLenPerGpu,

        @Setting(
                value = "null",
                min = 1,
                about = "Rows of a micro-batch of the values; null: as in the update",
                onResume = OnResume.FREE)
        Integer forwardMicroBatchSizePerGpu,

        @Setting(value = "1.0", about = "Largest gradient norm; longer gradients are scaled down to it")
        double gradClip,

        @OtherDefault(key = "lr", value = "1e-5") OptimConfig optim)
        implements Serializable {

    /** Section {@code critic.model}: what the critic starts from. */
    public record Model(
            @Setting(value = "null", about = "Hugging Face folder, with or without a value head; null: model.path")
            String path)
            implements Serializable {}
}
