package io.bellows.udfs.loss;

import io.bellows.udfs.metrics.Metric;
import io.bellows.udfs.metrics.Metrics;

/**
 * The clipped loss of PPO (Schulman et al., arXiv 1707.06347) with separate lower and upper clip (DAPO's clip-higher, arXiv
 * 2503.14476) and the second clip for negative advantages (dual-clip PPO, Ye et al., arXiv 1912.09729), verl's {@code vanilla}.
 *
 * <p>With ρ = exp(logProb − oldLogProb), the exponent held to ±20, and advantage A:
 * {@code loss = max(−A·ρ, −A·clip(ρ, 1 − clipLow, 1 + clipHigh))}, and at most {@code −A·clipC} where A is negative.
 *
 * <p>Metrics, means over sampled tokens: {@code actor/pg_clipfrac} (the clip is active), {@code actor/ppo_kl} (mean of
 * oldLogProb − logProb) and {@code actor/pg_clipfrac_lower} (the second clip is active).
 */
public final class VanillaPolicyLoss implements PolicyLoss {
    private static final double MAX_LOG_RATIO = 20;

    private final double clipLow;
    private final double clipHigh;
    private final double clipC;

    /**
     * @param clipLow verl's {@code clip_ratio_low}, in [0, 1]
     * @param clipHigh verl's {@code clip_ratio_high}, at least 0
     * @param clipC verl's {@code clip_ratio_c}, above 1
     * @throws IllegalArgumentException if a value is out of its range
     */
    public VanillaPolicyLoss(double clipLow, double clipHigh, double clipC) {
        Parameters.require(clipLow >= 0 && clipLow <= 1, "clip_ratio_low", clipLow, "it must be between 0 and 1");
        Parameters.require(clipHigh >= 0, "clip_ratio_high", clipHigh, "it must not be negative");
        Parameters.require(clipC > 1, "clip_ratio_c", clipC, "it must be above 1");
        this.clipLow = clipLow;
        this.clipHigh = clipHigh;
        this.clipC = clipC;
    }

    @Override
    public TokenLosses tokenLosses(PolicyBatch batch) {
        int tokens = batch.sequences().tokens();
        double[] values = new double[tokens];
        double[] derivatives = new double[tokens];
        int sampled = 0;
        int clipped = 0;
        int clippedByC = 0;
        double sumOfKl = 0;
        for (int t = 0; t < tokens; t++) {
            if (!batch.sequences().sampled(t)) {
                continue;
            }
            double advantage = batch.advantage(t);
            double logRatio = batch.logProb(t) - batch.oldLogProb(t);
            double heldLogRatio = Parameters.clamp(logRatio, -MAX_LOG_RATIO, MAX_LOG_RATIO);
            double ratio = Math.exp(heldLogRatio);
            double unclippedLoss = -advantage * ratio;
            double clippedLoss = -advantage * Parameters.clamp(ratio, 1 - clipLow, 1 + clipHigh);
            double loss = Math.max(unclippedLoss, clippedLoss);
            boolean active = clippedLoss > unclippedLoss;
            boolean activeC = advantage < 0 && loss > -advantage * clipC;

            values[t] = activeC ? -advantage * clipC : loss;
            // A clamped ratio is constant. An exponent that is held at ±20 is, too.
            derivatives[t] = active || activeC || heldLogRatio != logRatio ? 0 : unclippedLoss;
            sampled++;
            clipped += active ? 1 : 0;
            clippedByC += activeC ? 1 : 0;
            sumOfKl -= heldLogRatio;
        }
        Metrics metrics = Metrics.empty()
                .with("actor/pg_clipfrac", Metric.mean(clipped, sampled))
                .with("actor/ppo_kl", Metric.mean(sumOfKl, sampled))
                .with("actor/pg_clipfrac_lower", Metric.mean(clippedByC, sampled));
        return new TokenLosses(values, derivatives, metrics);
    }
}
