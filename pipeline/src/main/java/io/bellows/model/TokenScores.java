package io.bellows.model;

/**
 * What a decoder says about given tokens.
 *
 * @param logProbs log-probability of each scored token in nats, N
 * @param entropies entropy of the distribution that each was drawn from, in nats, N
 * @param squaredProbabilities sum of the squared probabilities of that distribution, in (0, 1], N; null where {@link
 *     Decoder#scoreWithSquares} was not asked for it
 */
public record TokenScores(float[] logProbs, float[] entropies, float[] squaredProbabilities) {}
