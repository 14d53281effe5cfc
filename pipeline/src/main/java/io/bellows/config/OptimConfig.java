package io.bellows.config;

import java.io.Serializable;
import java.util.List;

/** Section {@code actor.optim}: AdamW and its learning-rate schedule; supervised fine-tuning reads it too. */
public record OptimConfig(
        @Setting(value = "1e-6", min = 0, about = "Learning rate at the top of the schedule")
        double lr,

        @Setting(value = "-1", min = -1, about = "Optimizer steps of linear warm-up; -1: by lr_warmup_steps_ratio")
        int lrWarmupSteps,

        @Setting(value = "0.0", min = 0, max = 1, about = "Share of all steps that warm up")
        double lrWarmupStepsRatio,

        @Setting(
                value = "constant",
                oneOf = {"constant", "cosine", "linear"},
                about = "Learning rate after the warm-up")
        String lrSchedulerType,

        @Setting(value = "0.0", min = 0, max = 1, about = "Where cosine and linear end, as a share of lr")
        double minLrRatio,

        @Setting(value = "0.01", min = 0, about = "Decoupled weight decay")
        double weightDecay,

        @Setting(value = "[0.9, 0.999]", about = "Decay of the two moments of the gradient")
        List<Double> betas,

        @Setting(value = "1e-8", about = "Added to the root of the second moment")
        double eps)
        implements Serializable {

    /** Steps of warm-up of a schedule of {@code totalSteps} optimizer steps. */
    public long warmupSteps(long totalSteps) {
        return lrWarmupSteps >= 0 ? lrWarmupSteps : (long) (lrWarmupStepsRatio * totalSteps);
    }
}
