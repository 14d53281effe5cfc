package io.bellows.udfs.loss;

/**
 * The clipped loss of PPO (Schulman et al., arXiv 1707.06347) with separate lower and upper clip (DAPO's clip-higher, arXiv
 * 2503.14476) and the second clip for negative advantages (dual-clip PPO, Ye et al., arXiv 1912.09729), verl's {@code vanilla}.
 *
 * <p>With ρ = exp(logProb − oldLogProb), the exponent held to ±20, and advantage A:
 * {@code loss = max(−A·ρ, −A·clip(ρ, 1 − clipLow, 1 + clipHigh))}, and at most {@code −A·clipC} where A is negative.
 *
 * <p>{@code actor/pg_clipfrac} counts where the clip is active, {@code actor/pg_clipfrac_lower} where the second one is.
 */
public final class VanillaPolicyLoss implements PolicyLoss {
    private final ClipRange clip;
    private final double clipC;

    /**
     * @param clip verl's {@code clip_ratio_low} and {@code clip_ratio_high}
     * @param clipC verl's {@code clip_ratio_c}, above 1
     * @throws IllegalArgumentException if a value is out of its range
     */
    public VanillaPolicyLoss(ClipRange clip, double clipC) {
        Numbers.require(clipC > 1, "clip_ratio_c", clipC, "it must be above 1");
        this.clip = clip;
        this.clipC = clipC;
    }

    @Override
    public TokenLosses tokenLosses(PolicyBatch batch) {
        return TokenLosses.of(batch, t -> loss(batch.advantage(t), batch.logRatio(t)));
    }

    private TokenLoss loss(double advantage, double logRatio) {
        double held = Numbers.hold(logRatio);
        double ratio = Math.exp(held);
        double unclippedLoss = -advantage * ratio;
        double clippedLoss = -advantage * clip.clamp(ratio);
        double loss = Math.max(unclippedLoss, clippedLoss);
        boolean active = clippedLoss > unclippedLoss;
        boolean activeC = advantage < 0 && loss > -advantage * clipC;
        return new TokenLoss(
                activeC ? -advantage * clipC : loss,
                // A clamped ratio is constant. An exponent that is held at ±20 is, too.
                active || activeC || held != logRatio ? 0 : unclippedLoss,
                -held,
                active,
                activeC);
    }
}
