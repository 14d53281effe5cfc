package io.bellows.udfs.loss;

/** What losses do with their parameters and inputs. */
final class Parameters {

    private Parameters() {}

    static double clamp(double value, double min, double max) {
        return Math.max(min, Math.min(max, value));
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
