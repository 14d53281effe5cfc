package io.bellows.udfs.loss;

/**
 * Group Sequence Policy Optimization (Zheng et al., arXiv 2507.18071), verl's {@code gspo}: the clipped loss of PPO on the geometric
 * mean of the ratios of a sequence, the same for all its tokens.
 *
 * <p>{@code s = exp(mean(logProb − oldLogProb))}, the exponent at most 10, and
 * {@code loss = max(−A·s, −A·clip(s, 1 − clipLow, 1 + clipHigh))}. The gradient is that of GSPO-token (section 4.3): with s as a constant
 * times πθ/sg(πθ), so every token has its own advantage and the derivative −A·s, or 0 where the clip is active.
 *
 * <p>The aggregation is always {@code seq-mean-token-mean}, as in verl. Each segment of a trajectory has a ratio of its own; the
 * mean takes the trajectory once.
 */
public final class GspoPolicyLoss implements PolicyLoss {
    private static final double MAX_LOG_RATIO = 10;

    private final ClipRange clip;

    /**
     * @param clip verl's {@code clip_ratio_low} and {@code clip_ratio_high}; the paper uses 3e-4 and 4e-4
     */
    public GspoPolicyLoss(ClipRange clip) {
        this.clip = clip;
    }

    @Override
    public TokenLosses tokenLosses(PolicyBatch batch) {
        double[] meanLogRatios = batch.sequences().meansOfSampled(batch::logRatio);
        return TokenLosses.of(batch, t -> loss(batch.advantage(t), batch.logRatio(t), meanLogRatios[t]));
    }

    private TokenLoss loss(double advantage, double logRatio, double meanLogRatio) {
        double ratio = Math.exp(Math.min(meanLogRatio, MAX_LOG_RATIO));
        double unclippedLoss = -advantage * ratio;
        double clippedLoss = -advantage * clip.clamp(ratio);
        boolean active = clippedLoss > unclippedLoss;
        return new TokenLoss(
                Math.max(unclippedLoss, clippedLoss),
                active || meanLogRatio > MAX_LOG_RATIO ? 0 : unclippedLoss,
                -logRatio,
                active,
                false);
    }

    @Override
    public LossAggregation aggregation(LossAggregation configured) {
        return LossAggregation.SEQ_MEAN_TOKEN_MEAN;
    }
}
