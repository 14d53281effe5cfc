package io.bellows.config;

import java.io.Serializable;

/** Section {@code ref}: scoring by the reference policy. */
public record RefConfig(
        @Setting(
                value = "null",
                about = "Micro-batches of the reference's log-probs by token budget; null: actor.use_dynamic_bsz",
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
        Integer logProbMicroBatchSizePerGpu)
        implements Serializable {}
