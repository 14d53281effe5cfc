package io.bellows.udfs.statistics;

import java.io.Serializable;

/**
 * {@link Moments} of pairs of values, mergeable with those of other pairs.
 *
 * @param left moments of the first values
 * @param right moments of the second values
 * @param products sum of the products of both deviations from their means
 */
public record JointMoments(Moments left, Moments right, double products) implements Serializable {

    /** Moments of no pair: the neutral element of {@link #merge}. */
    public static final JointMoments NONE = new JointMoments(Moments.NONE, Moments.NONE, 0);

    /**
     * Moments, in two passes, of the pairs where {@code mask} is true; the others are never read and may be NaN.
     *
     * @param left any shape, flattened
     * @param right shape of {@code left}
     * @param mask shape of {@code left}
     * @throws IllegalArgumentException if the lengths differ
     */
    public static JointMoments of(double[] left, double[] right, boolean[] mask) {
        Moments lefts = Moments.of(left, mask);
        Moments rights = Moments.of(right, mask);
        double products = 0;
        for (int t = 0; t < left.length; t++) {
            products += mask[t] ? (left[t] - lefts.mean()) * (right[t] - rights.mean()) : 0;
        }
        return new JointMoments(lefts, rights, products);
    }

    /** Moments of these pairs and the others together. */
    public JointMoments merge(JointMoments other) {
        long count = left.count();
        long others = other.left.count();
        if (count == 0 || others == 0) {
            return count == 0 ? other : this;
        }
        double between = (other.left.mean() - left.mean())
                * (other.right.mean() - right.mean())
                * count
                * others
                / (count + others);
        return new JointMoments(left.merge(other.left), right.merge(other.right), products + other.products + between);
    }

    /** Pearson's correlation, NaN where one side is constant or there is no pair. */
    public double correlation() {
        return products / Math.sqrt(left.squares() * right.squares());
    }
}
