package io.bellows.udfs.loss;

import io.bellows.udfs.metrics.ExplainedVariance;
import io.bellows.udfs.metrics.Metric;
import io.bellows.udfs.metrics.Metrics;

/**
 * The clipped value loss of PPO's critic (as in OpenAI's baselines; Engstrom et al., arXiv 2005.12729), verl's
 * {@code compute_value_loss}.
 *
 * <p>With the value V, the value before the update V_old and the return R of a token:
 * {@code loss = ½·max((V − R)², (clip(V, V_old − cliprange_value, V_old + cliprange_value) − R)²)}.
 *
 * <p>Metrics: {@code critic/vf_loss} (a mean over mini-batches); over sampled tokens {@code critic/vf_clipfrac} (the clip is active),
 * {@code critic/vpred_mean} (mean of V) and {@code critic/vf_explained_var} (of the returns, by V_old, as in verl).
 */
public final class ValueLoss {
    private final double clipRange;
    private final LossAggregation aggregation;

    /**
     * @param clipRange verl's {@code critic.cliprange_value}, above 0
     * @param aggregation verl's {@code critic.loss_agg_mode}
     * @throws IllegalArgumentException if the range is not above 0
     */
    public ValueLoss(double clipRange, LossAggregation aggregation) {
        Numbers.require(clipRange > 0, "cliprange_value", clipRange, "it must be above 0");
        this.clipRange = clipRange;
        this.aggregation = aggregation;
    }

    /**
     * The part of a micro-batch in the loss of its mini-batch, and the derivatives. All arrays have the shape (tokens) and are read
     * where the mask is true only.
     *
     * @param sequences layout of the micro-batch
     * @param values what the critic says now
     * @param oldValues what it said before the update
     * @param returns what it is to say
     * @param totals denominators of the global mini-batch
     * @throws IllegalArgumentException if there is not one value, old value and return per token
     */
    public ValueGradient compute(
            Sequences sequences, double[] values, double[] oldValues, double[] returns, BatchTotals totals) {
        sequences.requireOnePerToken("values", values.length);
        sequences.requireOnePerToken("oldValues", oldValues.length);
        sequences.requireOnePerToken("returns", returns.length);
        double[] weights = aggregation.weights(sequences, totals);
        double[] dValue = new double[weights.length];
        double loss = 0;
        double sumOfValues = 0;
        int clipped = 0;
        ExplainedVariance explained = ExplainedVariance.empty();
        for (int t = 0; t < weights.length; t++) {
            if (!sequences.sampled(t)) {
                continue;
            }
            double error = values[t] - returns[t];
            double clippedError =
                    Numbers.clamp(values[t], oldValues[t] - clipRange, oldValues[t] + clipRange) - returns[t];
            boolean active = clippedError * clippedError > error * error;
            loss += weights[t] * 0.5 * (active ? clippedError * clippedError : error * error);
            dValue[t] = active ? 0 : weights[t] * error; // a clipped value is constant
            clipped += active ? 1 : 0;
            sumOfValues += values[t];
            explained = explained.with(returns[t], oldValues[t]);
        }
        int sampled = sequences.sampledTokens();
        Metrics metrics = Metrics.empty()
                .with("critic/vf_loss", Metric.mean(loss, totals.share(sequences)))
                .with("critic/vf_clipfrac", Metric.mean(clipped, sampled))
                .with("critic/vpred_mean", Metric.mean(sumOfValues, sampled))
                .with("critic/vf_explained_var", explained);
        return new ValueGradient(loss, dValue, metrics);
    }

    /** As {@link #compute(Sequences, double[], double[], double[], BatchTotals)}, from floats. */
    public ValueGradient compute(
            Sequences sequences, float[] values, float[] oldValues, float[] returns, BatchTotals totals) {
        return compute(
                sequences, Numbers.widened(values), Numbers.widened(oldValues), Numbers.widened(returns), totals);
    }
}
