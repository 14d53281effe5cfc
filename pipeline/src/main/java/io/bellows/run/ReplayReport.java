package io.bellows.run;

import java.util.List;

/**
 * How a replayed iteration differs from what the run committed.
 *
 * @param run the run directory
 * @param replay the directory that the replay was written to
 * @param iteration the iteration
 * @param rewards of the trajectories
 * @param logProbs of the policy before its update, by segments of trajectories
 * @param advantages by segments of trajectories
 * @param metrics those that differ, times and speeds aside
 * @param weights what the update wrote, by folder of the checkpoint; empty when the run's checkpoint is deleted
 */
public record ReplayReport(
        String run,
        String replay,
        int iteration,
        Rows rewards,
        Rows logProbs,
        Rows advantages,
        List<Metric> metrics,
        List<Weights> weights) {

    /** Copies the lists. */
    public ReplayReport {
        metrics = List.copyOf(metrics);
        weights = List.copyOf(weights);
    }

    /**
     * One column of a table.
     *
     * @param rows in either directory
     * @param different rows with another value, or in one of them only
     * @param largest largest absolute difference between two numbers, 0 when there are none to compare
     */
    public record Rows(long rows, long different, double largest) {}

    /**
     * A metric that differs.
     *
     * @param name verl's name
     * @param stored its value in the run, or null
     * @param replayed its value in the replay, or null
     */
    public record Metric(String name, Double stored, Double replayed) {}

    /**
     * A folder of the checkpoint.
     *
     * @param folder {@code actor}, {@code critic} or {@code optimizer}
     * @param identical whether all its files are the same bit for bit
     * @param largest largest absolute difference between two weights; null for {@code optimizer}, which is not read
     */
    public record Weights(String folder, boolean identical, Double largest) {}

    /** Whether nothing differs that was compared. */
    public boolean isIdentical() {
        return rewards.different == 0
                && logProbs.different == 0
                && advantages.different == 0
                && metrics.isEmpty()
                && weights.stream().allMatch(Weights::identical);
    }
}
