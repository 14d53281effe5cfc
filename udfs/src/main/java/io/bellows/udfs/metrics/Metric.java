package io.bellows.udfs.metrics;

import java.io.Serializable;

/**
 * A partial value of a metric that can be merged with the parts from other micro-batches and ranks.
 *
 * <p>Differs from verl on purpose: the reduction is declared here, with the metric. verl derives it from the name, so that
 * {@code terminal}, which contains "min", is reduced by its minimum.
 */
public sealed interface Metric extends Serializable permits ExplainedVariance, MomentsMetric, ReducedMetric {

    /** Part of a mean: {@code total} is a sum over {@code weight} items (tokens, rows or a share of a batch), at least 0. */
    static Metric mean(double total, double weight) {
        return new ReducedMetric(ReducedMetric.Kind.MEAN, total, weight);
    }

    /** Part of a sum, such as a count. */
    static Metric sum(double value) {
        return new ReducedMetric(ReducedMetric.Kind.SUM, value, 0);
    }

    /** Candidate of a minimum. */
    static Metric min(double value) {
        return new ReducedMetric(ReducedMetric.Kind.MIN, value, 0);
    }

    /** Candidate of a maximum. */
    static Metric max(double value) {
        return new ReducedMetric(ReducedMetric.Kind.MAX, value, 0);
    }

    /** Part of the standard deviation of all numbers, with the divisor n; 0 of a single number. */
    static Metric standardDeviation(double... values) {
        return MomentsMetric.of(MomentsMetric.Kind.STANDARD_DEVIATION, values);
    }

    /** Part of the standard deviation that a sample suggests, with the divisor n − 1; 0 of a single number. */
    static Metric sampleStandardDeviation(double... values) {
        return MomentsMetric.of(MomentsMetric.Kind.SAMPLE_STANDARD_DEVIATION, values);
    }

    /** Part of the effective sample size of weights as a share of their number, in (0, 1]: mean(w)² / mean(w²) (Kish, 1965). */
    static Metric effectiveSampleSize(double... weights) {
        return MomentsMetric.of(MomentsMetric.Kind.EFFECTIVE_SAMPLE_SIZE, weights);
    }

    /** Names how parts are merged, for messages. */
    String reduction();

    /**
     * This part and another one together.
     *
     * @throws IllegalArgumentException if the reductions differ
     */
    Metric merge(Metric other);

    /** Whether the parts have a value; a mean over nothing has none. */
    boolean hasValue();

    /** The value of the merged parts; NaN where there is none. */
    double value();
}
