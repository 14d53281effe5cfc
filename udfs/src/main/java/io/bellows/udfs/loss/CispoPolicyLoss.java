package io.bellows.udfs.loss;

/**
 * Clipped IS-weight Policy Optimization (MiniMax-M1, arXiv 2506.13585), verl's {@code cispo}: the ratio is clipped as a weight, so that no
 * token loses its gradient.
 *
 * <p>With ρ = exp(logProb − oldLogProb), the exponent held to ±20:
 * {@code loss = −sg(clip(ρ, 1 − clipLow, 1 + clipHigh))·A·logProb}. The clipped ratio is a constant (stop-gradient sg), so the derivative is
 * {@code −clip(ρ)·A}.
 *
 * <p>{@code actor/pg_clipfrac} counts ratios out of range.
 */
public final class CispoPolicyLoss implements PolicyLoss {
    private final ClipRange clip;

    /**
     * @param clip verl's {@code clip_ratio_low} and {@code clip_ratio_high}
     */
    public CispoPolicyLoss(ClipRange clip) {
        this.clip = clip;
    }

    @Override
    public TokenLosses tokenLosses(PolicyBatch batch) {
        return TokenLosses.of(batch, t -> {
            double held = Numbers.hold(batch.logRatio(t));
            double ratio = Math.exp(held);
            double clippedRatio = clip.clamp(ratio);
            double derivative = -clippedRatio * batch.advantage(t);
            return new TokenLoss(derivative * batch.logProb(t), derivative, -held, clippedRatio != ratio, false);
        });
    }
}
