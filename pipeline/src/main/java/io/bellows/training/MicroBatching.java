package io.bellows.training;

import io.bellows.config.MicroBatchLimit;
import io.bellows.udfs.batching.MicroBatches;
import java.io.Serializable;
import java.util.List;

/** How rows are cut into micro-batches. It changes what a pass costs, not what comes out. */
@FunctionalInterface
public interface MicroBatching extends Serializable {

    /**
     * Cuts rows into micro-batches.
     *
     * @param lengths tokens of each row, prompt included
     * @return the indices of the rows of each micro-batch; every row is in one
     * @throws io.bellows.udfs.batching.OversizeSequenceException if a row exceeds a token budget
     */
    List<int[]> plan(int[] lengths);

    /**
     * The way that a configuration asks for.
     *
     * @param limit a token budget or a number of rows
     */
    static MicroBatching of(MicroBatchLimit limit) {
        return limit.rows() == null ? byTokens(limit.maxTokens()) : byRows(limit.rows());
    }

    /**
     * Balanced micro-batches under a hard token budget: verl's {@code use_dynamic_bsz: true}.
     *
     * @param maxTokens the budget, such as {@code actor.ppo_max_token_len_per_gpu}
     */
    static MicroBatching byTokens(int maxTokens) {
        return lengths -> MicroBatches.plan(lengths, maxTokens);
    }

    /**
     * Micro-batches of a fixed number of rows, in order: verl's {@code use_dynamic_bsz: false}.
     *
     * @param rows the number, such as {@code actor.ppo_micro_batch_size_per_gpu}
     */
    static MicroBatching byRows(int rows) {
        return lengths -> MicroBatches.fixed(lengths.length, rows);
    }
}
