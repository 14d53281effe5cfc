package io.bellows.udfs.loss;

import io.bellows.udfs.metrics.Metrics;

/**
 * What a micro-batch adds to the loss of the critic, and the derivatives that the backward pass of its model starts from.
 *
 * @param loss part of the loss; the parts of all micro-batches and ranks add up to the loss of the mini-batch
 * @param dValue d(loss)/d(value), shape (tokens), exactly 0 at tokens that were not sampled
 * @param metrics parts to be merged over micro-batches, ranks and mini-batches
 */
@SuppressWarnings("ArrayRecordComponent") // produced once and read once, never compared
public record ValueGradient(double loss, double[] dValue, Metrics metrics) {}
