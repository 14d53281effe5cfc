package io.bellows.model;

/**
 * What a decoder says about given tokens.
 *
 * @param logProbs log-probability of each scored token in nats, N
 * @param entropies entropy of the distribution that each was drawn from, in nats, N
 */
public record TokenScores(float[] logProbs, float[] entropies) {}
