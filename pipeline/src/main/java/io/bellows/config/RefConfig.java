package io.bellows.config;

import java.io.Serializable;

/** Section {@code ref}: scoring by the reference policy, and by the policy before its update. */
public record RefConfig(
        @Setting(
                value = "null",
                min = 1,
                about = "Tokens of a scoring micro-batch; null: actor.ppo_max_token_len_per_gpu",
                onResume = OnResume.FREE)
        Integer logProbMaxTokenLenPerGpu)
        implements Serializable {}
