package io.bellows.model;

/**
 * The base of a rotary embedding, and how its frequencies are stretched for sequences longer than those of pre-training.
 *
 * @param type the kind of stretching
 * @param theta the base
 * @param factor how far; 1 where nothing is stretched
 * @param lowFrequencyFactor {@code llama3} only: wavelengths above original positions over this are stretched in full
 * @param highFrequencyFactor {@code llama3} only: wavelengths below original positions over this stay as they are
 * @param originalPositions {@code llama3} only: longest sequence of pre-training
 */
public record RopeScaling(
        Type type,
        double theta,
        double factor,
        double lowFrequencyFactor,
        double highFrequencyFactor,
        int originalPositions) {

    /** The kind of stretching. */
    public enum Type {
        /** None. */
        DEFAULT,
        /** Every frequency is divided by the factor (Chen et al., 2023, "Position Interpolation"). */
        LINEAR,
        /** Low frequencies are divided by the factor, high ones stay, with a ramp between (Llama 3.1). */
        LLAMA3
    }

    static RopeScaling none(double theta) {
        return new RopeScaling(Type.DEFAULT, theta, 1, 1, 1, 1);
    }

    static RopeScaling linear(double theta, double factor) {
        return new RopeScaling(Type.LINEAR, theta, factor, 1, 1, 1);
    }

    /**
     * Returns the angle by which each pair of dimensions turns from one position to the next.
     *
     * @param headSize width of a head, even
     * @return half as many angles, in radians
     */
    double[] frequencies(int headSize) {
        double[] frequencies = new double[headSize / 2];
        for (int i = 0; i < frequencies.length; i++) {
            double plain = Math.pow(theta, -2.0 * i / headSize);
            frequencies[i] = switch (type) {
                case DEFAULT -> plain;
                case LINEAR -> plain / factor;
                case LLAMA3 -> ramped(plain);
            };
        }
        return frequencies;
    }

    private double ramped(double plain) {
        double turns = originalPositions * plain / (2 * Math.PI); // over the longest sequence of pre-training
        double kept =
                Math.min(1, Math.max(0, (turns - lowFrequencyFactor) / (highFrequencyFactor - lowFrequencyFactor)));
        return kept * plain + (1 - kept) * plain / factor;
    }
}
