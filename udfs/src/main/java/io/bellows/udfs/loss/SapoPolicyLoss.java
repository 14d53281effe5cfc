package io.bellows.udfs.loss;

/**
 * Soft Adaptive Policy Optimization (Gao et al., arXiv 2511.20347), verl's {@code sapo}: a smooth gate in place of the clip.
 *
 * <p>With ρ = exp(logProb − oldLogProb), the exponent held to ±20, and σ the logistic function:
 * {@code loss = −A·(4/τ)·σ(τ·(ρ − 1))}, τ being tau_pos where A is positive and tau_neg elsewhere.
 *
 * <p>The aggregation is always {@code seq-mean-token-mean}, as in verl.
 */
public final class SapoPolicyLoss implements PolicyLoss {
    private final double tauPos;
    private final double tauNeg;

    /**
     * @param tauPos verl's {@code tau_pos}, above 0
     * @param tauNeg verl's {@code tau_neg}, above 0
     * @throws IllegalArgumentException if a value is out of its range
     */
    public SapoPolicyLoss(double tauPos, double tauNeg) {
        Numbers.require(tauPos > 0, "tau_pos", tauPos, "it must be above 0");
        Numbers.require(tauNeg > 0, "tau_neg", tauNeg, "it must be above 0");
        this.tauPos = tauPos;
        this.tauNeg = tauNeg;
    }

    @Override
    public TokenLosses tokenLosses(PolicyBatch batch) {
        return TokenLosses.of(batch, t -> loss(batch.advantage(t), batch.logRatio(t)));
    }

    private TokenLoss loss(double advantage, double logRatio) {
        double held = Numbers.hold(logRatio);
        double ratio = Math.exp(held);
        double tau = advantage > 0 ? tauPos : tauNeg;
        double sigma = 1 / (1 + Math.exp(-tau * (ratio - 1)));
        return TokenLoss.unclipped(
                -advantage * 4 / tau * sigma,
                held != logRatio ? 0 : -advantage * 4 * sigma * (1 - sigma) * ratio,
                -held);
    }

    @Override
    public LossAggregation aggregation(LossAggregation configured) {
        return LossAggregation.SEQ_MEAN_TOKEN_MEAN;
    }
}
