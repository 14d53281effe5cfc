package io.bellows.udfs.loss;

/**
 * The coefficient of the KL penalty in the reward and how it follows the divergence, verl's {@code algorithm.kl_ctrl}. Immutable: an update
 * returns the next controller, so the coefficient is all there is to keep.
 */
public sealed interface KlController permits KlController.Fixed, KlController.Adaptive {

    /** The coefficient to use now. */
    double coefficient();

    /**
     * The controller for the next batch.
     *
     * @param kl divergence from the reference on this batch, a mean over sequences
     * @param samples sequences of this batch
     */
    KlController after(double kl, long samples);

    /**
     * The coefficient stays as it is.
     *
     * @param coefficient verl's {@code kl_coef}
     */
    record Fixed(double coefficient) implements KlController {
        @Override
        public KlController after(double kl, long samples) {
            return this;
        }
    }

    /**
     * The coefficient rises while the divergence is above a target and falls while it is below (Ziegler et al., "Fine-Tuning Language Models
     * from Human Preferences", arXiv 1909.08593): {@code coefficient·(1 + clip(kl/target − 1, ±0.2)·samples/horizon)}.
     *
     * <p>With batches larger than 5 times the horizon the coefficient can become negative, as in verl; keep the horizon longer.
     *
     * @param coefficient verl's {@code kl_coef}, the first time
     * @param target verl's {@code target_kl}, above 0
     * @param horizon verl's {@code horizon}, above 0: samples in which the coefficient changes by at most a fifth
     */
    record Adaptive(double coefficient, double target, double horizon) implements KlController {
        private static final double LARGEST_ERROR = 0.2;

        /**
         * @throws IllegalArgumentException if target or horizon is not above 0
         */
        public Adaptive {
            Numbers.require(target > 0, "target_kl", target, "it must be above 0");
            Numbers.require(horizon > 0, "horizon", horizon, "it must be above 0");
        }

        @Override
        public KlController after(double kl, long samples) {
            double error = Numbers.clamp(kl / target - 1, -LARGEST_ERROR, LARGEST_ERROR);
            return new Adaptive(coefficient * (1 + error * samples / horizon), target, horizon);
        }
    }
}
