package io.bellows.training;

import java.io.Serializable;

/**
 * How an update is made.
 *
 * @param objective what is minimised
 * @param adamW the optimizer's constants
 * @param schedule learning rate by step
 * @param gradClip largest gradient norm; 0 clips nothing
 * @param microBatching how mini-batches are cut
 */
public record UpdateSettings(
        Objective objective,
        AdamW.Settings adamW,
        LearningRateSchedule schedule,
        double gradClip,
        MicroBatching microBatching)
        implements Serializable {}
