package io.bellows.udfs.loss;

/**
 * Clip-Cov (Cui et al., "The Entropy Mechanism of Reinforcement Learning for Reasoning Language Models", arXiv 2505.22617), verl's
 * {@code clip_cov}: the clipped loss of PPO, in which a few tokens of large covariance between advantage and log-prob, those that take
 * most entropy away, have no part.
 *
 * <p>With ρ = exp(logProb − oldLogProb): {@code loss = max(−A·ρ, −A·clip(ρ, 1 − clipLow, 1 + clipHigh))}, and 0 for a chosen token. Chosen is a
 * random share clip_cov_ratio of all sampled tokens, at least one, among those that the clip leaves alone and whose covariance is strictly
 * between clip_cov_lb and clip_cov_ub.
 *
 * <p>{@code actor/pg_clipfrac} counts chosen tokens.
 */
public final class ClipCovPolicyLoss implements SelectivePolicyLoss {
    private final ClipRange clip;
    private final double ratio;
    private final double lower;
    private final double upper;

    /**
     * @param clip verl's {@code clip_ratio_low} and {@code clip_ratio_high}
     * @param ratio verl's {@code clip_cov_ratio}, in (0, 1]
     * @param lower verl's {@code clip_cov_lb}
     * @param upper verl's {@code clip_cov_ub}, above the lower bound
     * @throws IllegalArgumentException if a value is out of its range
     */
    public ClipCovPolicyLoss(ClipRange clip, double ratio, double lower, double upper) {
        Numbers.require(ratio > 0 && ratio <= 1, "clip_cov_ratio", ratio, "it must be above 0, at most 1");
        Numbers.require(upper > lower, "clip_cov_ub", upper, "it must be above clip_cov_lb, which is " + lower);
        this.clip = clip;
        this.ratio = ratio;
        this.lower = lower;
        this.upper = upper;
    }

    @Override
    public boolean[] select(PolicyBatch miniBatch, long[] seeds) {
        Covariances covariances = new Covariances(miniBatch, seeds);
        return covariances.first(
                covariances
                        .sampled()
                        .filter(t -> covariances.of(t) > lower && covariances.of(t) < upper)
                        .filter(t -> !isClipped(miniBatch, t)),
                covariances.byLot(),
                ratio);
    }

    private boolean isClipped(PolicyBatch batch, int token) {
        double rho = Math.exp(batch.logRatio(token));
        return -batch.advantage(token) * clip.clamp(rho) > -batch.advantage(token) * rho;
    }

    @Override
    public TokenLosses tokenLosses(PolicyBatch batch) {
        return TokenLosses.of(batch, t -> {
            double advantage = batch.advantage(t);
            double rho = Math.exp(batch.logRatio(t));
            boolean chosen = batch.isSelected(t);
            double loss = Math.max(-advantage * rho, -advantage * clip.clamp(rho));
            return new TokenLoss(
                    chosen ? 0 : loss, chosen || isClipped(batch, t) ? 0 : loss, -batch.logRatio(t), chosen, false);
        });
    }
}
