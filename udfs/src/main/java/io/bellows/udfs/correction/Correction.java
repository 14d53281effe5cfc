package io.bellows.udfs.correction;

import io.bellows.udfs.metrics.Metrics;

/**
 * What {@link RolloutCorrection} says about some sequences.
 *
 * @param weights factor of each token's policy loss, shape (tokens), 0 at tokens that were not sampled; null without importance weights
 * @param mask true for a sampled token that has part in the loss, shape (tokens)
 * @param sumOfWeights part of the mean of the batch: over tokens, or over sequences where all tokens of one have the same weight
 * @param countOfWeights what that sum is over
 * @param metrics to be merged with those of other sequences
 */
@SuppressWarnings("ArrayRecordComponent") // produced once and read once, never compared
public record Correction(double[] weights, boolean[] mask, double sumOfWeights, long countOfWeights, Metrics metrics) {}
