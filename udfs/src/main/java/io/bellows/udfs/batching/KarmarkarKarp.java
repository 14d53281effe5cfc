package io.bellows.udfs.batching;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * Partitions work into k parts of nearly equal sums by the largest differencing method (Karmarkar and Karp, "The differencing
 * method of set partitioning", 1982), with the tie-breaks of verl, so that the result is the same on every machine.
 */
public final class KarmarkarKarp {
    private static final long LINEAR_COST = 24_576;

    private KarmarkarKarp() {}

    /**
     * Work of a forward and backward pass over a sequence, {@code 24576·L + L²}: linear layers of a hidden size of 4096, and
     * attention.
     */
    public static long workload(int length) {
        return LINEAR_COST * length + (long) length * length;
    }

    /** {@link #workload(int)} of every length. */
    public static long[] workloads(int[] lengths) {
        return Arrays.stream(lengths).mapToLong(KarmarkarKarp::workload).toArray();
    }

    /**
     * Parts of any size.
     *
     * @param workloads work of each item, not negative
     * @param k number of parts, from 1 to the number of items
     * @return k non-empty parts, heaviest first, each the ascending indices of its items
     * @throws IllegalArgumentException if k is out of range
     */
    public static List<int[]> partition(long[] workloads, int k) {
        requireParts(workloads.length, k);
        List<Partition> start = new ArrayList<>(workloads.length);
        for (int item = 0; item < workloads.length; item++) {
            start.add(new Partition(workloads, k, item));
        }
        return reduce(start);
    }

    /**
     * Parts with the same number of items each.
     *
     * @param workloads work of each item, not negative
     * @param k number of parts, a divisor of the number of items
     * @return k parts, heaviest first, each the ascending indices of its items
     * @throws IllegalArgumentException if k is out of range or not a divisor
     */
    public static List<int[]> partitionEqualSize(long[] workloads, int k) {
        requireParts(workloads.length, k);
        if (workloads.length % k != 0) {
            throw new IllegalArgumentException("Cannot split " + workloads.length + " items into " + k
                    + " parts of equal size: " + k + " is not a divisor");
        }
        int[] ascending = ascending(workloads);
        List<Partition> start = new ArrayList<>(workloads.length / k);
        for (int i = 0; i < ascending.length; i += k) {
            start.add(new Partition(workloads, k, Arrays.copyOfRange(ascending, i, i + k)));
        }
        return reduce(start);
    }

    private static List<int[]> reduce(List<Partition> start) {
        PriorityQueue<Partition> queue = new PriorityQueue<>(start);
        while (queue.size() > 1) {
            Partition widest = queue.remove();
            widest.merge(queue.remove());
            queue.add(widest);
        }
        return queue.remove().parts();
    }

    private static int[] ascending(long[] workloads) {
        Integer[] order = new Integer[workloads.length];
        Arrays.setAll(order, i -> i);
        Arrays.sort(order, Comparator.comparingLong(i -> workloads[i]));
        return Arrays.stream(order).mapToInt(Integer::intValue).toArray();
    }

    private static void requireParts(int items, int k) {
        if (k < 1 || k > items) {
            throw new IllegalArgumentException(
                    "Cannot split " + items + " items into " + k + " parts: every part needs at least one");
        }
    }

    /**
     * A partition of some of the items into k parts, heaviest first. The one with the largest spread is merged first. Empty parts,
     * which come last, are not stored: at the start each of n items would have k − 1 of them.
     */
    private static final class Partition implements Comparable<Partition> {
        private final int k;
        private final List<Part> parts;

        Partition(long[] workloads, int k, int... items) {
            this.k = k;
            this.parts = new ArrayList<>(items.length);
            for (int item : items) {
                parts.add(new Part(item, workloads[item]));
            }
            parts.sort(Comparator.reverseOrder());
        }

        /** Puts the heaviest part of the other partition on the lightest of this one, and so on. */
        void merge(Partition other) {
            int occupied = parts.size();
            for (int i = 0; i < other.parts.size(); i++) {
                int lightest = k - 1 - i;
                if (lightest < occupied) {
                    parts.get(lightest).addAll(other.parts.get(i));
                } else {
                    parts.add(other.parts.get(i));
                }
            }
            parts.sort(Comparator.reverseOrder());
        }

        List<int[]> parts() {
            List<int[]> indices = new ArrayList<>(parts.size());
            for (Part part : parts) {
                indices.add(part.items.stream().mapToInt(Item::index).sorted().toArray());
            }
            return indices;
        }

        @Override
        public int compareTo(Partition other) {
            int bySpread = Long.compare(other.spread(), spread());
            return bySpread != 0 ? bySpread : other.parts.get(0).compareTo(parts.get(0));
        }

        private long spread() {
            long lightest = parts.size() < k ? 0 : parts.get(k - 1).sum;
            return parts.get(0).sum - lightest;
        }
    }

    /** Items of one part, ordered by their sum, then their number, then the items. */
    private static final class Part implements Comparable<Part> {
        private final List<Item> items = new ArrayList<>(1);
        private long sum;

        Part(int index, long workload) {
            items.add(new Item(index, workload));
            sum = workload;
        }

        void addAll(Part other) {
            items.addAll(other.items);
            sum += other.sum;
        }

        @Override
        public int compareTo(Part other) {
            if (sum != other.sum) {
                return Long.compare(sum, other.sum);
            }
            if (items.size() != other.items.size()) {
                return Integer.compare(items.size(), other.items.size());
            }
            for (int i = 0; i < items.size(); i++) {
                int byItem = items.get(i).compareTo(other.items.get(i));
                if (byItem != 0) {
                    return byItem;
                }
            }
            return 0;
        }
    }

    private record Item(int index, long workload) implements Comparable<Item> {
        @Override
        public int compareTo(Item other) {
            return index != other.index ? Integer.compare(index, other.index) : Long.compare(workload, other.workload);
        }
    }
}
