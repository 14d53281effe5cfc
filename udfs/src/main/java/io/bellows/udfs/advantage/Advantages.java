package io.bellows.udfs.advantage;

import io.bellows.udfs.advantage.BatchNormalization.Rescaling;

/**
 * Advantages and returns of one sample.
 *
 * @param advantages one per token, 0 at tokens that were not sampled
 * @param returns one per token, what a critic learns to predict; 0 at tokens that were not sampled
 */
public record Advantages(double[] advantages, double[] returns) {

    /** Nothing to learn: all 0. */
    static Advantages none(int tokens) {
        return new Advantages(new double[tokens], new double[tokens]);
    }

    /** The same advantage, which is also the return, at every sampled token. */
    static Advantages constant(double advantage, boolean[] mask) {
        double[] tokens = new double[mask.length];
        for (int t = 0; t < mask.length; t++) {
            tokens[t] = mask[t] ? advantage : 0;
        }
        return new Advantages(tokens, tokens);
    }

    /** These advantages rescaled, with the same returns. */
    Advantages rescaled(Rescaling rescaling, boolean[] mask) {
        double[] tokens = new double[mask.length];
        for (int t = 0; t < mask.length; t++) {
            tokens[t] = mask[t] ? rescaling.apply(advantages[t]) : 0;
        }
        return new Advantages(tokens, returns);
    }

    /** These advantages as returns too. */
    Advantages withAdvantagesAsReturns() {
        return new Advantages(advantages, advantages);
    }
}
