package io.bellows.training;

import java.io.Serializable;

/**
 * How an update is made.
 *
 * @param objective what is minimised
 * @param adamW the optimizer's constants
 * @param schedule learning rate by step
 * @param gradClip largest gradient norm; 0 clips nothing
 * @param maxTokens hard token budget of a micro-batch
 */
public record UpdateSettings(
        Objective objective, AdamW.Settings adamW, LearningRateSchedule schedule, double gradClip, int maxTokens)
        implements Serializable {}
