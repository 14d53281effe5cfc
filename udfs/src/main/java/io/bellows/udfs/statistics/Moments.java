package io.bellows.udfs.statistics;

import java.io.Serializable;

/**
 * Number, mean and squared deviations of some values, mergeable with those of others (Chan, Golub and LeVeque, "Updating formulae
 * and a pairwise algorithm for computing sample variances", 1979). Merging in a fixed order gives a fixed result.
 *
 * @param count number of values
 * @param mean their mean, 0 if there is none; exactly the value where all are equal
 * @param squares sum of the squared deviations from the mean; exactly 0 where all values are equal
 * @param min the smallest, positive infinity if there is none
 * @param max the largest, negative infinity if there is none
 */
public record Moments(long count, double mean, double squares, double min, double max) implements Serializable {

    /** Moments of no value: the neutral element of {@link #merge}. */
    public static final Moments NONE = new Moments(0, 0, 0, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY);

    /** Moments of a single value. */
    public static Moments of(double value) {
        return new Moments(1, value, 0, value, value);
    }

    /**
     * Moments, in two passes, of the values where {@code mask} is true; the others are never read and may be NaN.
     *
     * @param values any shape, flattened
     * @param mask shape of {@code values}
     * @throws IllegalArgumentException if the lengths differ
     */
    public static Moments of(double[] values, boolean[] mask) {
        MaskedStatistics.requireSameLength(values, mask);
        long count = 0;
        double sum = 0;
        double min = Double.POSITIVE_INFINITY;
        double max = Double.NEGATIVE_INFINITY;
        for (int t = 0; t < values.length; t++) {
            if (mask[t]) {
                count++;
                sum += values[t];
                min = Math.min(min, values[t]);
                max = Math.max(max, values[t]);
            }
        }
        if (count == 0) {
            return NONE;
        }
        // A sum of equal values, divided, need not be that value again; the residue would be blown up by a division.
        double mean = min == max ? min : sum / count;
        double squares = 0;
        for (int t = 0; t < values.length; t++) {
            if (mask[t]) {
                squares += (values[t] - mean) * (values[t] - mean);
            }
        }
        return new Moments(count, mean, squares, min, max);
    }

    /** Moments of these values and the others together. */
    public Moments merge(Moments other) {
        if (count == 0 || other.count == 0) {
            return count == 0 ? other : this;
        }
        long both = count + other.count;
        double least = Math.min(min, other.min);
        double most = Math.max(max, other.max);
        if (least == most) {
            return new Moments(both, least, 0, least, most);
        }
        double difference = other.mean - mean;
        return new Moments(
                both,
                mean + difference * other.count / both,
                squares + other.squares + difference * difference * count * other.count / both,
                least,
                most);
    }

    /** Unbiased (n − 1) variance, 0 with fewer than two values. */
    public double variance() {
        return count < 2 ? 0 : squares / (count - 1);
    }
}
