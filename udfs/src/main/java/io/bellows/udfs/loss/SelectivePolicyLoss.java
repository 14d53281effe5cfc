package io.bellows.udfs.loss;

/**
 * A policy loss that treats some tokens of a mini-batch differently, chosen by comparison with all others. The whole mini-batch is scored
 * without gradient first; {@link #select} chooses; then the micro-batches are computed with {@link PolicyBatch.Builder#selected}.
 *
 * <p>Differs from verl on purpose: verl chooses anew in each micro-batch, so that the loss depends on how the mini-batch is split, and
 * draws without a seed.
 */
public interface SelectivePolicyLoss extends PolicyLoss {

    /**
     * Chooses tokens.
     *
     * @param miniBatch all sequences of the mini-batch of all ranks
     * @param seeds a seed for each sequence, made of what identifies it, so that the choice does not depend on the order of sequences
     * @return true for a chosen token, shape (tokens), false at tokens that were not sampled
     */
    boolean[] select(PolicyBatch miniBatch, long[] seeds);
}
