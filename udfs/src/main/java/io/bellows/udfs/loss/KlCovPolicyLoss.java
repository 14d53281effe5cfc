package io.bellows.udfs.loss;

import java.util.Comparator;

/**
 * KL-Cov (Cui et al., arXiv 2505.22617), verl's {@code kl_cov}: the plain ratio loss, in which the tokens of largest covariance between
 * advantage and log-prob, those that take most entropy away, pay for their distance from the old policy.
 *
 * <p>With ℓ = logProb − oldLogProb: {@code loss = −A·exp(ℓ)}, plus {@code ppo_kl_coef·|ℓ|} for a chosen token. Chosen is the share
 * kl_cov_ratio of all sampled tokens, at least one, with the largest covariances.
 *
 * <p>{@code actor/ppo_kl} is the mean of |ℓ|, as in verl; {@code actor/pg_clipfrac} is 0.
 */
public final class KlCovPolicyLoss implements SelectivePolicyLoss {
    private final double ratio;
    private final double klCoef;

    /**
     * @param ratio verl's {@code kl_cov_ratio}, in (0, 1]
     * @param klCoef verl's {@code ppo_kl_coef}, at least 0
     * @throws IllegalArgumentException if a value is out of its range
     */
    public KlCovPolicyLoss(double ratio, double klCoef) {
        Numbers.require(ratio > 0 && ratio <= 1, "kl_cov_ratio", ratio, "it must be above 0, at most 1");
        Numbers.require(klCoef >= 0, "ppo_kl_coef", klCoef, "it must not be negative");
        this.ratio = ratio;
        this.klCoef = klCoef;
    }

    @Override
    public boolean[] select(PolicyBatch miniBatch, long[] seeds) {
        Covariances covariances = new Covariances(miniBatch, seeds);
        Comparator<Integer> largest = Comparator.comparingDouble((Integer token) -> -covariances.of(token));
        return covariances.first(covariances.sampled(), largest.thenComparing(covariances.byLot()), ratio);
    }

    @Override
    public TokenLosses tokenLosses(PolicyBatch batch) {
        return TokenLosses.of(batch, t -> {
            double logRatio = batch.logRatio(t);
            double loss = -batch.advantage(t) * Math.exp(logRatio);
            double coef = batch.isSelected(t) ? klCoef : 0;
            return TokenLoss.unclipped(
                    loss + coef * Math.abs(logRatio), loss + coef * Math.signum(logRatio), Math.abs(logRatio));
        });
    }
}
