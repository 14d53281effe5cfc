package io.bellows.udfs.loss;

/**
 * The range around 1 that a probability ratio may move in.
 *
 * @param low verl's {@code clip_ratio_low}, in [0, 1]
 * @param high verl's {@code clip_ratio_high}, at least 0
 */
public record ClipRange(double low, double high) {

    /**
     * @throws IllegalArgumentException if a value is out of its range
     */
    public ClipRange {
        Numbers.require(low >= 0 && low <= 1, "clip_ratio_low", low, "it must be between 0 and 1");
        Numbers.require(high >= 0, "clip_ratio_high", high, "it must not be negative");
    }

    double clamp(double ratio) {
        return Numbers.clamp(ratio, 1 - low, 1 + high);
    }
}
