package io.bellows.engine;

/**
 * One sampled response.
 *
 * @param ids the tokens, with the stop id if one ended it
 * @param logProbs log-probability of each token, in nats, under the full distribution at the sampling temperature (at 1
 *     if greedy). Under top-k, top-p or min-p that is not the distribution the token was drawn from, so importance
 *     ratios built on it are approximate.
 * @param finishReason why it ended
 * @param weightsVersion version of the weights that read the prompt
 * @param millis wall time from the prompt's admission to the end
 */
public record Generation(int[] ids, float[] logProbs, FinishReason finishReason, long weightsVersion, long millis) {}
