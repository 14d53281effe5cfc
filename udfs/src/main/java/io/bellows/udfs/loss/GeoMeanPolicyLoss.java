package io.bellows.udfs.loss;

/**
 * Geometric-Mean Policy Optimization (Zhao et al., arXiv 2507.20673), verl's {@code geo_mean}: one ratio for each sequence, the geometric
 * mean of its tokens' ratios after they were clipped in log space on the side that the advantage points to.
 *
 * <p>With ℓ = logProb − oldLogProb, {@code c = min(ℓ, clipHigh)} where A is positive, {@code max(ℓ, −clipLow)} where it is negative, 0 where it
 * is 0: the loss of a sequence is {@code −mean(A)·exp(mean(c))}, and that of the batch the mean over sequences, whatever
 * {@code loss_agg_mode} says, as in verl. The importance weight of a sequence is the geometric mean of its tokens' weights.
 *
 * <p>{@code actor/pg_clipfrac} counts tokens with ℓ out of range and A positive, {@code actor/pg_clipfrac_lower} those with A negative.
 *
 * <p>Differs from verl on purpose: a sequence without a sampled token is not in the mean. Each segment of a trajectory has a
 * ratio of its own; the mean takes the trajectory once.
 */
public final class GeoMeanPolicyLoss implements PolicyLoss {
    private static final double EPSILON = 1e-10;

    private final ClipRange clip;

    /**
     * @param clip verl's {@code clip_ratio_low} and {@code clip_ratio_high}, here of the log-ratio; the paper uses 0.4 for both
     */
    public GeoMeanPolicyLoss(ClipRange clip) {
        this.clip = clip;
    }

    @Override
    public TokenLosses tokenLosses(PolicyBatch batch) {
        Sequences sequences = batch.sequences();
        double[] advantages = sequences.meansOfSampled(batch::advantage);
        double[] logRatios = sequences.meansOfSampled(t -> clipped(batch.advantage(t), batch.logRatio(t)));
        return TokenLosses.of(batch, t -> {
            double advantage = batch.advantage(t);
            double logRatio = batch.logRatio(t);
            // The loss of the sequence at each of its n tokens: seq-mean-token-mean takes it once, and its derivative
            // at a token, a
            // 1/n of this, n times.
            double loss = -advantages[t] * Math.exp(logRatios[t]);
            boolean outOfRange = logRatio < -clip.low() || logRatio > clip.high();
            return new TokenLoss(
                    loss,
                    clipped(advantage, logRatio) == logRatio && advantage != 0 ? loss : 0,
                    -logRatio,
                    outOfRange && advantage > 0,
                    outOfRange && advantage < 0);
        });
    }

    private double clipped(double advantage, double logRatio) {
        if (advantage == 0) {
            return 0;
        }
        return advantage > 0 ? Math.min(logRatio, clip.high()) : Math.max(logRatio, -clip.low());
    }

    @Override
    public LossAggregation aggregation(LossAggregation configured) {
        return LossAggregation.SEQ_MEAN_TOKEN_MEAN;
    }

    @Override
    public double[] importanceWeights(PolicyBatch batch) {
        double[] logWeights = batch.sequences().meansOfSampled(t -> Math.log(batch.importanceWeight(t) + EPSILON));
        for (int t = 0; t < logWeights.length; t++) {
            logWeights[t] = Math.exp(logWeights[t]);
        }
        return logWeights;
    }
}
