package io.bellows.udfs.loss;

/**
 * The loss of one sampled token.
 *
 * @param value the loss
 * @param derivative as in {@link TokenLosses#derivatives}
 * @param kl the token's part of {@code actor/ppo_kl}, as a rule oldLogProb − logProb
 * @param clipped whether it counts in {@code actor/pg_clipfrac}
 * @param clippedLower whether it counts in {@code actor/pg_clipfrac_lower}
 */
record TokenLoss(double value, double derivative, double kl, boolean clipped, boolean clippedLower) {

    /** A loss that nothing clips. */
    static TokenLoss unclipped(double value, double derivative, double kl) {
        return new TokenLoss(value, derivative, kl, false, false);
    }
}
