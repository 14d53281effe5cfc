package io.bellows.config;

import io.bellows.udfs.advantage.AdvantageEstimator;
import io.bellows.udfs.advantage.AdvantageRegistry;
import io.bellows.udfs.advantage.GrpoAdvantage.Normalization;
import io.bellows.udfs.loss.KlController;
import java.io.Serializable;
import java.util.Collections;
import java.util.List;

/** Section {@code algorithm}: how rewards become advantages. */
public record AlgorithmConfig(
        @Setting(
                value = "grpo",
                oneOf = {
                    "gae",
                    "grpo",
                    "grpo_vectorized",
                    "grpo_passk",
                    "rloo",
                    "rloo_vectorized",
                    "reinforce_plus_plus",
                    "reinforce_plus_plus_baseline",
                    "remax",
                    "opo",
                    "gpg",
                    "gdpo",
                    "optimal_token_baseline",
                    "tir_optimal_token_baseline"
                },
                about = "Advantage estimator")
        String advEstimator,

        @Setting(value = "1.0", min = 0, max = 1, about = "Discount of later rewards (gae, reinforce_plus_plus)")
        double gamma,

        @Setting(value = "1.0", min = 0, max = 1, about = "Weight of longer look-ahead (gae)")
        double lam,

        @Setting(
                value = "true",
                about = "Divide by the group's standard deviation (grpo, grpo_passk, gdpo); false with grpo: Dr. GRPO")
        boolean normAdvByStdInGrpo,

        @Setting(value = "[]", about = "Reward functions that are normalized one by one (gdpo)")
        List<String> gdpoRewardKeys,

        @Setting(value = "[]", about = "Factor of each of them; []: 1 for all")
        List<Double> gdpoRewardWeights,

        @Setting(value = "false", about = "Subtract the divergence from the reference policy from the reward")
        boolean useKlInReward,

        @Setting(
                value = "kl",
                oneOf = {
                    "kl",
                    "k1",
                    "abs",
                    "mse",
                    "k2",
                    "low_var_kl",
                    "k3",
                    "kl+",
                    "k1+",
                    "abs+",
                    "mse+",
                    "k2+",
                    "low_var_kl+",
                    "k3+"
                },
                about = "Estimator of that divergence")
        String klPenalty,

        KlCtrl klCtrl,
        FilterGroupsConfig filterGroups,
        RolloutCorrectionConfig rolloutCorrection)
        implements Serializable {

    /** Section {@code algorithm.kl_ctrl}: the weight of the divergence in the reward. */
    public record KlCtrl(
            @Setting(
                    value = "fixed",
                    oneOf = {"fixed", "adaptive"},
                    about = "Whether the weight stays or follows the divergence")
            String type,

            @Setting(value = "0.001", min = 0, about = "The weight; where it is adaptive, that of the first iteration")
            double klCoef,

            @Setting(value = "10000", min = 1, about = "Samples in which an adaptive weight moves by at most a fifth")
            int horizon,

            @Setting(value = "0.1", about = "The divergence that an adaptive weight aims at")
            double targetKl)
            implements Serializable {}

    /** The controller of the divergence in the reward, with the configured weight or, where not null, a later one. */
    public KlController klController(Double later) {
        double coefficient = later == null ? klCtrl.klCoef() : later;
        return klCtrl.type().equals("adaptive")
                ? new KlController.Adaptive(coefficient, klCtrl.targetKl(), klCtrl.horizon())
                : new KlController.Fixed(coefficient);
    }

    /** The configured estimator. */
    public AdvantageEstimator estimator() {
        List<Double> weights =
                gdpoRewardWeights.isEmpty() ? Collections.nCopies(gdpoRewardKeys.size(), 1.0) : gdpoRewardWeights;
        return AdvantageRegistry.create(
                advEstimator,
                new AdvantageRegistry.Settings(
                        normAdvByStdInGrpo ? Normalization.BY_STD : Normalization.NONE, gamma, lam, weights));
    }
}
