package io.bellows.udfs.loss;

/**
 * A policy gradient loss, verl's {@code actor.policy_loss.loss_mode}: the loss of each token and its derivative with respect to
 * the log-prob. Implementations are immutable and read sampled tokens only. {@link PolicyLosses} knows them by name.
 *
 * <p>Every loss has the metrics {@code actor/ppo_kl} (how far the policy has moved, mean of oldLogProb − logProb where a loss does not
 * say otherwise), {@code actor/pg_clipfrac} and {@code actor/pg_clipfrac_lower} (shares of tokens, 0 for a loss that does not clip): means
 * over sampled tokens.
 */
public interface PolicyLoss {

    /** Loss and derivative of every token. Importance weights and aggregation are applied by {@link ActorLoss}. */
    TokenLosses tokenLosses(PolicyBatch batch);

    /** The aggregation to use where the configuration asks for {@code configured}; a loss on whole sequences overrides it. */
    default LossAggregation aggregation(LossAggregation configured) {
        return configured;
    }

    /** The weight that the loss of each token is multiplied by, shape (tokens), read at sampled tokens. */
    default double[] importanceWeights(PolicyBatch batch) {
        double[] weights = new double[batch.sequences().tokens()];
        for (int t = 0; t < weights.length; t++) {
            weights[t] = batch.importanceWeight(t);
        }
        return weights;
    }
}
