package io.bellows.udfs.batching;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Splits the sequences of a rank's mini-batch into micro-batches. A plan is a list of micro-batches, each the ascending indices of
 * its sequences, so results are put back in order by writing them to their index.
 */
public final class MicroBatches {

    private MicroBatches() {}

    /**
     * Micro-batches of balanced work under a hard budget of tokens, verl's {@code use_dynamic_bsz}.
     *
     * <p>Differs from verl on purpose: no micro-batch exceeds the budget. verl balances work over the smallest number of
     * micro-batches that could hold the tokens, and some may come out larger than asked; here the number is raised until all fit.
     * Where verl's fit, composition and order are verl's.
     *
     * @param lengths tokens of each sequence, prompt included
     * @param maxTokens budget of a micro-batch
     * @return smaller micro-batches at both ends, empty for no sequence
     * @throws OversizeSequenceException if a sequence is longer than the budget
     */
    public static List<int[]> plan(int[] lengths, int maxTokens) {
        return plan(lengths, maxTokens, 1);
    }

    /**
     * As {@link #plan(int[], int)}, but with at least {@code minimum} micro-batches, as ranks need that must make the same number
     * of steps.
     *
     * @throws OversizeSequenceException if a sequence is longer than the budget
     * @throws IllegalArgumentException if there are fewer sequences than {@code minimum}
     */
    public static List<int[]> plan(int[] lengths, int maxTokens, int minimum) {
        requireFitting(lengths, maxTokens);
        if (lengths.length == 0) {
            return List.of();
        }
        if (lengths.length < minimum) {
            throw new IllegalArgumentException(
                    "Cannot make " + minimum + " micro-batches of " + lengths.length + " sequences");
        }
        long[] workloads = KarmarkarKarp.workloads(lengths);
        int count = Math.max(minimum, fewest(lengths, maxTokens));
        List<int[]> batches = KarmarkarKarp.partition(workloads, count);
        // Ends at the latest with one sequence in each. Steps of about 3 % bound the time that large batches take.
        while (batches.stream().anyMatch(batch -> tokens(batch, lengths) > maxTokens)) {
            count = Math.min(lengths.length, count + Math.max(1, count / 32));
            batches = KarmarkarKarp.partition(workloads, count);
        }
        return smallAtBothEnds(batches, workloads);
    }

    /**
     * Micro-batches of a fixed number of sequences in the given order, the last possibly smaller: verl's
     * {@code ppo_micro_batch_size_per_gpu}.
     *
     * @param sequences number of sequences
     * @param size sequences of a micro-batch, at least 1
     */
    public static List<int[]> fixed(int sequences, int size) {
        if (size < 1) {
            throw new IllegalArgumentException("Invalid micro-batch size " + size + ": it must be at least 1");
        }
        List<int[]> batches = new ArrayList<>();
        for (int start = 0; start < sequences; start += size) {
            batches.add(
                    IntStream.range(start, Math.min(sequences, start + size)).toArray());
        }
        return batches;
    }

    /**
     * Makes sure that each sequence fits into a micro-batch.
     *
     * @param lengths tokens of each sequence, prompt included
     * @param maxTokens budget of a micro-batch
     * @throws OversizeSequenceException if a sequence is longer than the budget
     */
    public static void requireFitting(int[] lengths, int maxTokens) {
        for (int i = 0; i < lengths.length; i++) {
            if (lengths[i] > maxTokens) {
                throw new OversizeSequenceException(i, lengths[i], maxTokens);
            }
        }
    }

    /** A lower bound: all tokens must fit, and of sequences longer than 1/(j + 1) of the budget at most j share a micro-batch. */
    private static int fewest(int[] lengths, int maxTokens) {
        long tokens = Arrays.stream(lengths).asLongStream().sum();
        long fewest = Math.max(1, (tokens + maxTokens - 1) / maxTokens);
        for (int j = 1; j <= 8; j++) {
            long share = j + 1L;
            long large = Arrays.stream(lengths)
                    .filter(length -> share * length > maxTokens)
                    .count();
            fewest = Math.max(fewest, (large + j - 1) / j);
        }
        return (int) fewest;
    }

    private static long tokens(int[] batch, int[] lengths) {
        return Arrays.stream(batch).mapToLong(i -> lengths[i]).sum();
    }

    private static List<int[]> smallAtBothEnds(List<int[]> batches, long[] workloads) {
        List<int[]> heaviestFirst = new ArrayList<>(batches);
        heaviestFirst.sort(Comparator.<int[]>comparingLong(batch ->
                        Arrays.stream(batch).mapToLong(i -> workloads[i]).sum())
                .thenComparingInt(batch -> batch[0])
                .reversed());
        List<int[]> ordered = new ArrayList<>(batches.size());
        for (int i = (batches.size() - 1) / 2 * 2; i >= 0; i -= 2) {
            ordered.add(heaviestFirst.get(i));
        }
        for (int i = 1; i < batches.size(); i += 2) {
            ordered.add(heaviestFirst.get(i));
        }
        return ordered;
    }
}
