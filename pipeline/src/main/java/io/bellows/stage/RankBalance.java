package io.bellows.stage;

import io.bellows.udfs.batching.KarmarkarKarp;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Deals the trajectories of a mini-batch out to ranks. A rank computes a prompt once for all its sequences that begin with it, so
 * groups stay whole where that leaves the busiest rank with no more work than taking them apart would: with a few groups for
 * each rank it does, with fewer groups than ranks it does not. Segments of a trajectory always stay together, because
 * sequence-level losses join them.
 */
final class RankBalance {

    /**
     * A sequence, as far as its work depends on it.
     *
     * @param prompt equal for sequences with the same prompt
     * @param promptLength tokens of the prompt
     * @param length tokens of prompt and response
     */
    record Sequence(long prompt, int promptLength, int length) {}

    private final Map<String, List<Sequence>> sequences;
    private final int ranks;

    /**
     * @param sequences those of each trajectory, by its id; of one rank nobody asks
     * @param ranks the number of ranks
     */
    RankBalance(Map<String, List<Sequence>> sequences, int ranks) {
        this.sequences = sequences;
        this.ranks = ranks;
    }

    /**
     * Deals a mini-batch out.
     *
     * @param groups the trajectory ids of each group
     * @return the rank of each trajectory; with fewer trajectories than ranks, some ranks have none
     */
    Map<String, Integer> deal(List<List<String>> groups) {
        if (ranks == 1) {
            return byTrajectory(List.of(groups.stream().flatMap(List::stream).toList()));
        }
        List<List<String>> whole = parts(groups);
        List<List<String>> apart =
                parts(groups.stream().flatMap(List::stream).map(List::of).toList());
        return byTrajectory(most(whole) <= most(apart) ? whole : apart);
    }

    /** The trajectories of each rank, when those of an item stay together. */
    private List<List<String>> parts(List<List<String>> items) {
        long[] work = items.stream().mapToLong(this::work).toArray();
        List<List<String>> parts = new ArrayList<>();
        for (int[] part : KarmarkarKarp.partition(work, Math.min(ranks, items.size()))) {
            List<String> trajectories = new ArrayList<>();
            for (int item : part) {
                trajectories.addAll(items.get(item));
            }
            parts.add(trajectories);
        }
        return parts;
    }

    private long most(List<List<String>> parts) {
        return parts.stream().mapToLong(this::work).max().orElse(0);
    }

    /** What a rank has to do for these trajectories. */
    private long work(Collection<String> trajectories) {
        Set<Long> prompts = new HashSet<>();
        long work = 0;
        for (String trajectory : trajectories) {
            for (Sequence sequence : sequences.getOrDefault(trajectory, List.of())) {
                work += KarmarkarKarp.workload(sequence.length);
                if (!prompts.add(sequence.prompt)) {
                    work -= KarmarkarKarp.workload(sequence.promptLength);
                }
            }
        }
        return work;
    }

    private static Map<String, Integer> byTrajectory(List<List<String>> parts) {
        Map<String, Integer> ranks = new HashMap<>();
        for (int rank = 0; rank < parts.size(); rank++) {
            for (String trajectory : parts.get(rank)) {
                ranks.put(trajectory, rank);
            }
        }
        return ranks;
    }
}
