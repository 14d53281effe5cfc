package io.bellows.udfs.loss;

/**
 * Divergence PPO (arXiv 2602.04879), verl's {@code dppo_tv} and {@code dppo_kl}: the trust region is one of the divergence between the
 * policies, estimated on the sampled token against all others (binary), and not one of the ratio.
 *
 * <p>With π = exp(logProb), ρ = π/π_old, the exponent held to ±20: {@code loss = −A·sg(min(ρ, clipC))·logProb} for tokens inside, 0 for tokens
 * that moved further than the threshold in the direction of their advantage. The weight is a constant (stop-gradient sg), so the
 * derivative is {@code −A·min(ρ, clipC)} inside. The threshold is clip_ratio_high where A is positive, clip_ratio_low elsewhere.
 *
 * <p>{@code actor/pg_clipfrac} counts tokens outside, {@code actor/pg_clipfrac_lower} tokens inside with a ratio above clipC.
 */
public final class DppoPolicyLoss implements PolicyLoss {

    /** How far a token's probability has moved. */
    public enum Divergence {
        /** Binary total variation: |π − π_old|. */
        TOTAL_VARIATION,
        /** Binary KL: π_old·log(π_old/π) + (1 − π_old)·log((1 − π_old)/(1 − π)), with 1e-8 added to the complements. */
        KL
    }

    private static final double EPSILON = 1e-8;

    private final Divergence divergence;
    private final double low;
    private final double high;
    private final double clipC;

    /**
     * @param divergence what the thresholds bound
     * @param low threshold for negative advantages, verl's {@code clip_ratio_low}, at least 0
     * @param high threshold for positive advantages, verl's {@code clip_ratio_high}, at least 0
     * @param clipC bound of the ratio as a weight, verl's {@code clip_ratio_c}, above 0; the paper recommends a large one, such as 20
     * @throws IllegalArgumentException if a value is out of its range
     */
    public DppoPolicyLoss(Divergence divergence, double low, double high, double clipC) {
        Numbers.require(low >= 0, "clip_ratio_low", low, "it must not be negative");
        Numbers.require(high >= 0, "clip_ratio_high", high, "it must not be negative");
        Numbers.require(clipC > 0, "clip_ratio_c", clipC, "it must be above 0");
        this.divergence = divergence;
        this.low = low;
        this.high = high;
        this.clipC = clipC;
    }

    @Override
    public TokenLosses tokenLosses(PolicyBatch batch) {
        return TokenLosses.of(batch, t -> {
            double held = Numbers.hold(batch.logRatio(t));
            double ratio = Math.exp(held);
            double advantage = batch.advantage(t);
            boolean inside = inside(advantage, batch.logProb(t), batch.oldLogProb(t));
            double derivative = inside ? -advantage * Math.min(ratio, clipC) : 0;
            return new TokenLoss(derivative * batch.logProb(t), derivative, -held, !inside, inside && ratio > clipC);
        });
    }

    /** Whether the token has not moved too far in the direction of its advantage. */
    private boolean inside(double advantage, double logProb, double oldLogProb) {
        double p = Math.exp(logProb);
        double old = Math.exp(oldLogProb);
        boolean towards = advantage > 0 ? p > old : p < old;
        return !towards || distance(p, old, logProb, oldLogProb) <= (advantage > 0 ? high : low);
    }

    private double distance(double p, double old, double logProb, double oldLogProb) {
        return switch (divergence) {
            case TOTAL_VARIATION -> Math.abs(p - old);
            case KL -> old * (oldLogProb - logProb) + (1 - old) * Math.log((1 - old + EPSILON) / (1 - p + EPSILON));
        };
    }
}
