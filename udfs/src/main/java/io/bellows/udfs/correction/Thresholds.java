package io.bellows.udfs.correction;

import java.util.Arrays;

/** Reads thresholds of a configuration: one number above 0, or two that rise, such as {@code 0.5_2.0}. */
final class Thresholds {

    private Thresholds() {}

    static double[] parse(String key, String text) {
        double[] bounds;
        try {
            bounds = Arrays.stream(text.strip().split("_", -1))
                    .mapToDouble(Double::parseDouble)
                    .toArray();
        } catch (NumberFormatException e) {
            throw invalid(key, text, e);
        }
        if (bounds.length > 2
                || Arrays.stream(bounds).anyMatch(bound -> !(bound > 0) || Double.isInfinite(bound))
                || (bounds.length == 2 && bounds[0] > bounds[1])) {
            throw invalid(key, text, null);
        }
        return bounds;
    }

    private static IllegalArgumentException invalid(String key, String text, Throwable cause) {
        return new IllegalArgumentException(
                "Invalid " + key + " '" + text
                        + "': write one number above 0, such as 2.0, or a lower and an upper bound, such as 0.5_2.0",
                cause);
    }
}
