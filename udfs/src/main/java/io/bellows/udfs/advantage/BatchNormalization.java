package io.bellows.udfs.advantage;

import io.bellows.udfs.statistics.MaskedStatistics;
import io.bellows.udfs.statistics.Moments;

/** How the advantages of a batch are put on one scale. Each way is {@code (advantage − shift) · scale} at every sampled token. */
public enum BatchNormalization {
    /** Advantages stay as they are. */
    NONE,
    /**
     * To mean 0 and variance 1 over the sampled tokens of all samples with a score, verl's {@code masked_whiten}.
     *
     * <p>Differs from verl on purpose: tokens that were not sampled are 0 afterwards; with fewer than two tokens, where verl
     * raises, advantages are centred only, so that a single token has 0; and if all advantages are equal they become exactly 0.
     */
    WHITEN,
    /**
     * Times the number of samples over the number of those whose score is not 0, which keeps the size of the gradient when few
     * samples succeed (GPG, Chu et al., arXiv 2504.02546).
     */
    BY_NONZERO_SCORES;

    /**
     * A step common to all sampled tokens of a batch: {@code (advantage − shift) · scale}.
     *
     * @param shift subtracted first
     * @param scale multiplied with the difference
     */
    public record Rescaling(double shift, double scale) {

        /** The rescaled advantage of one token. */
        public double apply(double advantage) {
            return (advantage - shift) * scale;
        }
    }

    /**
     * The step that normalizes a batch.
     *
     * @param tokens the advantages at the sampled tokens of all samples with a score
     * @param scored number of samples with a score
     * @param nonZero number of those whose score is not 0
     */
    public Rescaling rescaling(Moments tokens, long scored, long nonZero) {
        return switch (this) {
            case NONE -> new Rescaling(0, 1);
            case WHITEN -> new Rescaling(tokens.mean(), MaskedStatistics.whiteningScale(tokens));
            case BY_NONZERO_SCORES -> new Rescaling(0, (double) scored / Math.max(nonZero, 1));
        };
    }
}
