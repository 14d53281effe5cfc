package io.bellows.config;

import java.io.Serializable;

/** Section {@code actor.policy_loss}: which policy loss, and what only some of them read. */
public record PolicyLossConfig(
        @Setting(
                value = "vanilla",
                oneOf = {
                    "vanilla",
                    "gspo",
                    "sapo",
                    "gpg",
                    "clip_cov",
                    "kl_cov",
                    "geo_mean",
                    "cispo",
                    "dppo_tv",
                    "dppo_kl",
                    "dro"
                },
                about = "Policy loss; gspo, sapo and geo_mean average over sequences whatever actor.loss_agg_mode says")
        String lossMode,

        @Setting(value = "0.0002", max = 1, about = "clip_cov: share of tokens without a gradient")
        double clipCovRatio,

        @Setting(value = "1.0", about = "clip_cov: covariances above it can be chosen")
        double clipCovLb,

        @Setting(value = "5.0", about = "clip_cov: covariances below it can be chosen")
        double clipCovUb,

        @Setting(value = "0.0002", max = 1, about = "kl_cov: share of tokens that pay for their distance")
        double klCovRatio,

        @Setting(value = "0.1", min = 0, about = "kl_cov: price of that distance")
        double ppoKlCoef,

        @Setting(value = "null", about = "dro: weight of the quadratic penalty, above 0; needed there")
        Double droBeta)
        implements Serializable {}
