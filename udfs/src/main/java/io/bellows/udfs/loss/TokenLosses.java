package io.bellows.udfs.loss;

import io.bellows.udfs.metrics.Metrics;

/**
 * Losses of the tokens of a micro-batch before aggregation.
 *
 * @param values shape (tokens), 0 at tokens that were not sampled
 * @param derivatives shape (tokens): the derivative of {@code Σ w·values} with respect to the log-prob of token t is
 *     {@code w[t]·derivatives[t]}. For a loss that is defined on whole sequences this holds for weights that are constant in a
 *     sequence, so such a loss fixes its aggregation.
 * @param metrics sums over the sampled tokens
 */
@SuppressWarnings("ArrayRecordComponent") // produced once and read once, never compared
public record TokenLosses(double[] values, double[] derivatives, Metrics metrics) {}
