package io.bellows.udfs.loss;

/** Arithmetic that the losses share. */
final class Numbers {
    /** Beyond it exponents are held, as in verl. */
    private static final double MAX_LOG_RATIO = 20;

    private Numbers() {}

    static double clamp(double value, double min, double max) {
        return Math.max(min, Math.min(max, value));
    }

    /** The log-ratio held to ±20. */
    static double hold(double logRatio) {
        return clamp(logRatio, -MAX_LOG_RATIO, MAX_LOG_RATIO);
    }

    static double[] widened(float[] values) {
        double[] wide = new double[values.length];
        for (int t = 0; t < values.length; t++) {
            wide[t] = values[t];
        }
        return wide;
    }

    static void require(boolean valid, String key, double value, String rule) {
        if (!valid) {
            throw new IllegalArgumentException("Invalid " + key + " " + value + ": " + rule);
        }
    }
}
