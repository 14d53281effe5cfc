package io.bellows.udfs.loss;

import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * How token losses become one number, verl's {@code actor.loss_agg_mode}. Every mode is a weighted sum over sampled tokens, so that
 * the loss is {@code Σ w·loss} and its derivative {@code w·dloss}. With N sampled tokens and S trajectories in the global
 * mini-batch and n tokens in the trajectory at hand, the weights are as given at each mode.
 *
 * <p>Differs from verl on purpose: values outside the mask are never read, so a NaN there does not leak (in verl it does in the
 * seq-* modes); and a batch without any sampled token has weight, loss and gradient 0 (in verl NaN).
 */
public enum LossAggregation {
    /** 1/N: every token of the mini-batch counts the same (DAPO, arXiv 2503.14476). */
    TOKEN_MEAN("token-mean"),
    /** 1. */
    TOKEN_SUM("token-sum"),
    /** 1/S. */
    SEQ_MEAN_TOKEN_SUM("seq-mean-token-sum"),
    /** 1/(S·n): every trajectory counts the same (GRPO, arXiv 2402.03300). */
    SEQ_MEAN_TOKEN_MEAN("seq-mean-token-mean"),
    /**
     * 1/(S·loss_scale_factor) (Dr. GRPO, arXiv 2503.20783). Versions of verl before 2026-02 lack the mean over sequences here, so
     * that the gradient grew with the batch.
     */
    SEQ_MEAN_TOKEN_SUM_NORM("seq-mean-token-sum-norm");

    private final String configName;

    LossAggregation(String configName) {
        this.configName = configName;
    }

    /**
     * The mode of this name in a configuration.
     *
     * @throws IllegalArgumentException naming the known modes, if there is none
     */
    public static LossAggregation of(String configName) {
        return Arrays.stream(values())
                .filter(mode -> mode.configName.equals(configName))
                .findFirst()
                .orElseThrow(
                        () -> new IllegalArgumentException("Invalid loss_agg_mode '" + configName + "': use one of "
                                + Arrays.stream(values())
                                        .map(LossAggregation::configName)
                                        .collect(Collectors.joining(", "))));
    }

    /** The name in a configuration. */
    public String configName() {
        return configName;
    }

    /**
     * The weight of every token, 0 for tokens that were not sampled.
     *
     * @param batch a micro-batch
     * @param totals denominators of the global mini-batch that it is a part of
     * @return shape (tokens)
     */
    public double[] weights(Sequences batch, BatchTotals totals) {
        double[] weights = new double[batch.tokens()];
        for (int i = 0; i < batch.count(); i++) {
            for (int t = batch.start(i); t < batch.end(i); t++) {
                if (batch.sampled(t)) {
                    weights[t] = weight(batch.trajectoryTokens(i), totals);
                }
            }
        }
        return weights;
    }

    private double weight(long trajectoryTokens, BatchTotals totals) {
        return switch (this) {
            case TOKEN_MEAN -> 1.0 / requirePositive(totals.tokens(), "tokens");
            case TOKEN_SUM -> 1.0;
            case SEQ_MEAN_TOKEN_SUM -> 1.0 / requirePositive(totals.sequences(), "sequences");
            case SEQ_MEAN_TOKEN_MEAN ->
                1.0 / ((double) requirePositive(totals.sequences(), "sequences") * trajectoryTokens);
            case SEQ_MEAN_TOKEN_SUM_NORM ->
                1.0 / (requirePositive(totals.sequences(), "sequences") * totals.lossScaleFactor());
        };
    }

    /** Reached for sampled tokens only, so a total of 0 is not that of the batch these tokens are in. */
    private static long requirePositive(long total, String what) {
        if (total == 0) {
            throw new IllegalArgumentException("Invalid batch totals: 0 " + what
                    + ", yet the micro-batch has sampled tokens; use the totals of the mini-batch it is a part of");
        }
        return total;
    }
}
