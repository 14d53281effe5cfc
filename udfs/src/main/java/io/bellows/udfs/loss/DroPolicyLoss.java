package io.bellows.udfs.loss;

/**
 * Direct Reward Optimization (Richemond et al., arXiv 2405.19107), verl's {@code dro}: a quadratic penalty holds the policy near the one
 * that sampled. {@code loss = −(A·logProb − β/2·(logProb − oldLogProb)²)}.
 */
public final class DroPolicyLoss implements PolicyLoss {
    private final double beta;

    /**
     * @param beta verl's {@code dro_beta}, above 0
     * @throws IllegalArgumentException if it is not
     */
    public DroPolicyLoss(double beta) {
        Numbers.require(beta > 0, "dro_beta", beta, "it must be above 0");
        this.beta = beta;
    }

    @Override
    public TokenLosses tokenLosses(PolicyBatch batch) {
        return TokenLosses.of(batch, t -> {
            double advantage = batch.advantage(t);
            double logRatio = batch.logRatio(t);
            return TokenLoss.unclipped(
                    -advantage * batch.logProb(t) + beta / 2 * logRatio * logRatio,
                    -advantage + beta * logRatio,
                    -logRatio);
        });
    }
}
