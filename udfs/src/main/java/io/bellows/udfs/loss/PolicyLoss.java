package io.bellows.udfs.loss;

/**
 * A policy gradient loss, verl's {@code actor.policy_loss.loss_mode}: the loss of each token and its derivative with respect to
 * the log-prob. Implementations are immutable and read sampled tokens only.
 */
public interface PolicyLoss {

    /** Loss and derivative of every token. Importance weights and aggregation are applied by {@link ActorLoss}. */
    TokenLosses tokenLosses(PolicyBatch batch);

    /** The aggregation to use where the configuration asks for {@code configured}; a loss on whole sequences overrides it. */
    default LossAggregation aggregation(LossAggregation configured) {
        return configured;
    }
}
