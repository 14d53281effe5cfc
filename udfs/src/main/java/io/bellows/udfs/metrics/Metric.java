package io.bellows.udfs.metrics;

import java.io.Serializable;

/**
 * A partial value of a metric that can be merged with the parts from other micro-batches and ranks.
 *
 * <p>Differs from verl on purpose: the reduction is declared here, with the metric. verl derives it from the name, so that
 * {@code terminal}, which contains "min", is reduced by its minimum.
 *
 * @param reduction how parts are merged
 * @param total weighted sum for {@link Reduction#MEAN}, otherwise the value itself
 * @param weight divisor of a mean (tokens, rows or a share of a batch), at least 0; unused by the other reductions
 */
public record Metric(Reduction reduction, double total, double weight) implements Serializable {

    /** How parts of a metric become one value. */
    public enum Reduction {
        /** Sum of the totals over sum of the weights. */
        MEAN,
        /** Sum of the totals. */
        SUM,
        /** Smallest total. */
        MIN,
        /** Largest total. */
        MAX
    }

    /** Part of a mean: {@code total} is a sum over {@code weight} items. */
    public static Metric mean(double total, double weight) {
        return new Metric(Reduction.MEAN, total, weight);
    }

    /** Part of a sum, such as a count. */
    public static Metric sum(double value) {
        return new Metric(Reduction.SUM, value, 0);
    }

    /** Candidate of a minimum. */
    public static Metric min(double value) {
        return new Metric(Reduction.MIN, value, 0);
    }

    /** Candidate of a maximum. */
    public static Metric max(double value) {
        return new Metric(Reduction.MAX, value, 0);
    }

    /**
     * This part and another one together.
     *
     * @throws IllegalArgumentException if the reductions differ
     */
    public Metric merge(Metric other) {
        if (reduction != other.reduction) {
            throw new IllegalArgumentException(
                    "Cannot merge a metric reduced by " + reduction + " with one reduced by " + other.reduction);
        }
        return switch (reduction) {
            case MEAN -> mean(total + other.total, weight + other.weight);
            case SUM -> sum(total + other.total);
            case MIN -> min(Math.min(total, other.total));
            case MAX -> max(Math.max(total, other.total));
        };
    }

    /** The value of the merged parts; NaN for a mean over nothing. */
    public double value() {
        return reduction == Reduction.MEAN ? total / weight : total;
    }
}
