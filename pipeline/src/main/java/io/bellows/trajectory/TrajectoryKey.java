package io.bellows.trajectory;

import java.io.Serializable;

/**
 * What identifies a trajectory.
 *
 * @param runId the run
 * @param iteration the iteration, from 1
 * @param groupId run, iteration and position in the data; the same prompt met twice is two groups
 * @param promptId digest of the data file and row in it
 * @param sampleIndex index of the sample in its group, from 0
 */
public record TrajectoryKey(String runId, int iteration, String groupId, String promptId, int sampleIndex)
        implements Serializable {

    /**
     * The key of a sample.
     *
     * @param position place of the prompt in the iteration's batch, or in the whole pass over the data
     */
    public static TrajectoryKey of(String runId, int iteration, long position, String promptId, int sampleIndex) {
        String group = runId + "/" + iteration + "/" + position;
        return new TrajectoryKey(runId, iteration, group, promptId, sampleIndex);
    }

    /** Identifies the trajectory over all runs. */
    public String trajectoryId() {
        return groupId + "/" + sampleIndex;
    }
}
