package io.bellows.config;

import java.io.Serializable;

/** Section {@code algorithm}: how rewards become advantages. */
public record AlgorithmConfig(
        @Setting(
                value = "grpo",
                oneOf = {"grpo"},
                about = "Advantage estimator")
        String advEstimator,

        @Setting(value = "true", about = "Divide by the group's standard deviation; false: Dr. GRPO")
        boolean normAdvByStdInGrpo,

        FilterGroupsConfig filterGroups,
        RolloutCorrectionConfig rolloutCorrection)
        implements Serializable {}
