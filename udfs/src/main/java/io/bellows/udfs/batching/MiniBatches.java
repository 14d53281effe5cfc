package io.bellows.udfs.batching;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Splits the groups (the samples of one prompt) of an iteration into mini-batches, one optimizer step each, by a seeded global
 * permutation. It depends on nothing but its arguments, so not on the number of ranks.
 */
public final class MiniBatches {

    private MiniBatches() {}

    /**
     * A random split into as few mini-batches as the size allows, as even as possible: a rest is spread, since a small last
     * mini-batch would make a full step on little data. 62 groups at 16 make 16, 16, 15 and 15.
     *
     * @param groups number of groups
     * @param size most groups of a mini-batch, verl's {@code ppo_mini_batch_size}, at least 1
     * @param seed from the run's seed, the iteration and the epoch: another seed is another permutation
     * @return the indices of the groups of each mini-batch, in the order of the permutation
     * @throws IllegalArgumentException if {@code size} is below 1
     */
    public static List<int[]> plan(int groups, int size, long seed) {
        if (size < 1) {
            throw new IllegalArgumentException("Invalid ppo_mini_batch_size " + size + ": it must be at least 1");
        }
        int[] order = permutation(groups, seed);
        int count = (groups + size - 1) / size;
        List<int[]> batches = new ArrayList<>(count);
        int start = 0;
        for (int i = 0; i < count; i++) {
            int end = start + groups / count + (i < groups % count ? 1 : 0);
            batches.add(Arrays.copyOfRange(order, start, end));
            start = end;
        }
        return batches;
    }

    /** Fisher–Yates over java.util.Random, whose sequence is part of the Java specification. */
    private static int[] permutation(int count, long seed) {
        int[] order = new int[count];
        Arrays.setAll(order, i -> i);
        Random random = new Random(mixed(seed));
        for (int i = count - 1; i > 0; i--) {
            int j = random.nextInt(i + 1);
            int swapped = order[i];
            order[i] = order[j];
            order[j] = swapped;
        }
        return order;
    }

    /** Finalizer of SplitMix64: java.util.Random begins alike for seeds that are close, such as those of two epochs. */
    private static long mixed(long seed) {
        long z = seed + 0x9E3779B97F4A7C15L;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }
}
