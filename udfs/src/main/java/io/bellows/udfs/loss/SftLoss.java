package io.bellows.udfs.loss;

import io.bellows.udfs.metrics.Metric;
import io.bellows.udfs.metrics.Metrics;

/**
 * Loss of supervised fine-tuning: the negative log-likelihood of the completion tokens, which are those whose mask is true.
 * Metrics: {@code train/loss}, a mean over mini-batches.
 */
public final class SftLoss {
    private final LossAggregation aggregation;

    public SftLoss(LossAggregation aggregation) {
        this.aggregation = aggregation;
    }

    /**
     * The part of a micro-batch in the loss of its mini-batch, and the derivatives; {@link LossGradient#dEntropy} is 0.
     *
     * @param sequences layout of the micro-batch
     * @param logProbs log-probability of each token, shape (tokens), read where the mask is true
     * @param totals denominators of the global mini-batch
     * @throws IllegalArgumentException if there is not one log-prob per token
     */
    public LossGradient compute(Sequences sequences, float[] logProbs, BatchTotals totals) {
        sequences.requireOnePerToken("logProbs", logProbs.length);
        double[] weights = aggregation.weights(sequences, totals);
        double[] dLogProb = new double[weights.length];
        double loss = 0;
        for (int t = 0; t < weights.length; t++) {
            if (sequences.sampled(t)) {
                loss -= weights[t] * logProbs[t];
                dLogProb[t] = -weights[t];
            }
        }
        return new LossGradient(
                loss,
                dLogProb,
                new double[weights.length],
                Metrics.empty().with("train/loss", Metric.mean(loss, totals.share(sequences))));
    }
}
