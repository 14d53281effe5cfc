package io.bellows.training;

import io.bellows.config.OptimConfig;
import java.io.Serializable;

/**
 * The learning rate of each optimizer step: linear warm-up, then constant, cosine or linear decay to a floor.
 *
 * @param optim the section {@code optim} of the configuration
 * @param totalSteps optimizer steps of the whole run
 */
public record LearningRateSchedule(OptimConfig optim, long totalSteps) implements Serializable {

    /**
     * Returns the learning rate of a step.
     *
     * @param step steps taken before it, from 0; past the end the floor holds
     * @return the learning rate
     */
    public double at(long step) {
        long warmup = optim.warmupSteps(totalSteps);
        if (step < warmup) {
            return optim.lr() * (step + 1) / warmup;
        }
        double progress = Math.min(1, (double) (step - warmup) / Math.max(1, totalSteps - warmup));
        double decay = switch (optim.lrSchedulerType()) {
            case "constant" -> 1;
            case "linear" -> 1 - progress;
            case "cosine" -> (1 + Math.cos(Math.PI * progress)) / 2;
            default ->
                throw new IllegalArgumentException("Invalid actor.optim.lr_scheduler_type: " + optim.lrSchedulerType());
        };
        double floor = optim.lrSchedulerType().equals("constant") ? 1 : optim.minLrRatio();
        return optim.lr() * (floor + (1 - floor) * decay);
    }
}
