package io.bellows.training;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import io.bellows.config.MicroBatchLimit;
import io.bellows.udfs.batching.MicroBatches;
import java.io.Serializable;
import java.nio.IntBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.stream.IntStream;

/** How rows are cut into micro-batches. It changes what a pass costs, not what comes out. */
@FunctionalInterface
public interface MicroBatching extends Serializable {

    /**
     * Cuts rows into micro-batches.
     *
     * @param rows any rows
     * @return the indices of the rows of each micro-batch; every row is in one
     * @throws io.bellows.udfs.batching.OversizeSequenceException if a row exceeds a token budget
     */
    List<int[]> plan(List<TrainingSequence> rows);

    /**
     * The way that a configuration asks for.
     *
     * @param limit a token budget or a number of rows
     */
    static MicroBatching of(MicroBatchLimit limit) {
        return limit.rows() == null ? byTokens(limit.maxTokens()) : byRows(limit.rows());
    }

    /**
     * Balanced micro-batches under a hard token budget: verl's {@code use_dynamic_bsz: true}. Rows of one prompt stay together as far as the
     * budget allows. It counts their prompt for each of them, though it is computed once: what attention keeps of it is there
     * for each.
     *
     * @param maxTokens the budget, such as {@code actor.ppo_max_token_len_per_gpu}
     */
    static MicroBatching byTokens(int maxTokens) {
        return rows -> {
            int[] lengths = rows.stream().mapToInt(TrainingSequence::length).toArray();
            MicroBatches.requireFitting(lengths, maxTokens);
            List<int[]> units = new ArrayList<>();
            for (int[] family : families(rows)) {
                MicroBatches.plan(at(family, lengths), maxTokens).forEach(part -> units.add(at(part, family)));
            }
            int[] tokens = units.stream()
                    .mapToInt(unit -> Arrays.stream(at(unit, lengths)).sum())
                    .toArray();
            return MicroBatches.plan(tokens, maxTokens).stream()
                    .map(batch -> Arrays.stream(batch)
                            .flatMap(unit -> Arrays.stream(units.get(unit)))
                            .toArray())
                    .toList();
        };
    }

    /** The indices of the rows of each prompt. */
    private static List<int[]> families(List<TrainingSequence> rows) {
        return IntStream.range(0, rows.size())
                .boxed()
                .collect(groupingBy(i -> IntBuffer.wrap(rows.get(i).promptIds()), LinkedHashMap::new, toList()))
                .values()
                .stream()
                .map(family -> family.stream().mapToInt(i -> i).toArray())
                .toList();
    }

    private static int[] at(int[] indices, int[] values) {
        return Arrays.stream(indices).map(i -> values[i]).toArray();
    }

    /**
     * Micro-batches of a fixed number of rows, in order: verl's {@code use_dynamic_bsz: false}.
     *
     * @param rows the number, such as {@code actor.ppo_micro_batch_size_per_gpu}
     */
    static MicroBatching byRows(int rows) {
        return all -> MicroBatches.fixed(all.size(), rows);
    }
}
