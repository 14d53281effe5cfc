package io.bellows.udfs.statistics;

/**
 * Statistics of the values where a mask is true, verl's {@code masked_sum}, {@code masked_mean}, {@code masked_var} and
 * {@code masked_whiten}. Other values are never read and may be NaN.
 *
 * <p>Differs from verl on purpose: fewer than two values have variance 0 and are whitened to their difference from the mean, where
 * verl raises; whitened values outside the mask are 0; values that are all equal are whitened to exactly 0.
 */
public final class MaskedStatistics {

    private static final double EPSILON = 1e-8;

    private MaskedStatistics() {}

    /** Sum, 0 over nothing. */
    public static double sum(double[] values, boolean[] mask) {
        requireSameLength(values, mask);
        double sum = 0;
        for (int t = 0; t < values.length; t++) {
            sum += mask[t] ? values[t] : 0;
        }
        return sum;
    }

    /** Mean, 0 over nothing as in verl. */
    public static double mean(double[] values, boolean[] mask) {
        return Moments.of(values, mask).mean();
    }

    /** Unbiased (n − 1) variance, 0 with fewer than two values. */
    public static double variance(double[] values, boolean[] mask) {
        return Moments.of(values, mask).variance();
    }

    /**
     * Values shifted and scaled to mean 0 and variance 1: {@code (value − mean) / √(variance + 1e-8)}.
     *
     * @return shape of {@code values}, 0 outside the mask
     */
    public static double[] whiten(double[] values, boolean[] mask) {
        Moments moments = Moments.of(values, mask);
        double scale = whiteningScale(moments);
        double[] white = new double[values.length];
        for (int t = 0; t < values.length; t++) {
            white[t] = mask[t] ? (values[t] - moments.mean()) * scale : 0;
        }
        return white;
    }

    /** The factor that brings values of these moments to variance 1; 1 with fewer than two values. */
    public static double whiteningScale(Moments moments) {
        return moments.count() < 2 ? 1 : 1 / Math.sqrt(moments.variance() + EPSILON);
    }

    static void requireSameLength(double[] values, boolean[] mask) {
        if (values.length != mask.length) {
            throw new IllegalArgumentException("Invalid mask: " + mask.length + " entries for " + values.length
                    + " values; give one entry per value");
        }
    }
}
