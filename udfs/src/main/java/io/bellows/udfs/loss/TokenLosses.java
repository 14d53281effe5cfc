package io.bellows.udfs.loss;

import io.bellows.udfs.metrics.Metric;
import io.bellows.udfs.metrics.Metrics;
import java.util.function.IntFunction;

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
public record TokenLosses(double[] values, double[] derivatives, Metrics metrics) {

    /** The losses of the sampled tokens of a batch one by one, and their metrics under verl's names. */
    static TokenLosses of(PolicyBatch batch, IntFunction<TokenLoss> lossOfToken) {
        int tokens = batch.sequences().tokens();
        double[] values = new double[tokens];
        double[] derivatives = new double[tokens];
        int clipped = 0;
        int clippedLower = 0;
        double sumOfKl = 0;
        for (int t = 0; t < tokens; t++) {
            if (!batch.sequences().sampled(t)) {
                continue;
            }
            TokenLoss loss = lossOfToken.apply(t);
            values[t] = loss.value();
            derivatives[t] = loss.derivative();
            clipped += loss.clipped() ? 1 : 0;
            clippedLower += loss.clippedLower() ? 1 : 0;
            sumOfKl += loss.kl();
        }
        int sampled = batch.sequences().sampledTokens();
        Metrics metrics = Metrics.empty()
                .with("actor/pg_clipfrac", Metric.mean(clipped, sampled))
                .with("actor/ppo_kl", Metric.mean(sumOfKl, sampled))
                .with("actor/pg_clipfrac_lower", Metric.mean(clippedLower, sampled));
        return new TokenLosses(values, derivatives, metrics);
    }
}
