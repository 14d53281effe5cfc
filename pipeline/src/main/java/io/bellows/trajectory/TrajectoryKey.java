package io.bellows.trajectory;

import java.io.Serializable;
import java.util.Comparator;

/**
 * What identifies a trajectory.
 *
 * @param runId the run
 * @param iteration the iteration, from 1
 * @param groupId run, iteration and position in the data; the same prompt met twice is two groups
 * @param promptId digest of the data file and row in it
 * @param sampleIndex index of the sample in its group, from 0; {@link #GREEDY_BASELINE} for the greedy response of ReMax
 */
public record TrajectoryKey(String runId, int iteration, String groupId, String promptId, int sampleIndex)
        implements Serializable {

    /** The sample index of a group's greedy response, which is compared with and never learned from. */
    public static final int GREEDY_BASELINE = -1;

    /** Order of group ids of one run: by iteration, then by position. */
    public static final Comparator<String> GROUP_ORDER = Comparator.comparingLong((String groupId) -> part(groupId, 2))
            .thenComparingLong(groupId -> part(groupId, 1));

    /**
     * The key of a sample.
     *
     * @param position place of the prompt in the iteration's batch, or in the whole pass over the data
     */
    public static TrajectoryKey of(String runId, int iteration, long position, String promptId, int sampleIndex) {
        return new TrajectoryKey(runId, iteration, groupId(runId, iteration, position), promptId, sampleIndex);
    }

    /** The id of a group. */
    public static String groupId(String runId, int iteration, long position) {
        return runId + "/" + iteration + "/" + position;
    }

    /** The iteration that a group was sampled in. */
    public static int iteration(String groupId) {
        return Math.toIntExact(part(groupId, 2));
    }

    /** Identifies the trajectory over all runs. */
    public String trajectoryId() {
        return groupId + "/" + sampleIndex;
    }

    private static long part(String groupId, int fromTheEnd) {
        String[] parts = groupId.split("/");
        return Long.parseLong(parts[parts.length - fromTheEnd]);
    }
}
