package io.bellows.run;

import io.bellows.data.Cursor;
import java.util.List;

/**
 * What an iteration leaves behind for the next one; part of the manifest that commits it.
 *
 * @param checkpoint folder of the checkpoint below the run directory, such as {@code checkpoints/000007}; null for iteration 0,
 *     whose model is {@code model.path}
 * @param checkpointSha256 checksum of that checkpoint's manifest, or null
 * @param cursor how far the data was read
 * @param optimizerSteps optimizer steps since the beginning of the run
 * @param seed seed of the run, from which every other is derived
 * @param carriedGroups ids of groups of this iteration that the next one learns from, besides its own; empty without
 *     {@code algorithm.filter_groups.carry_over}
 * @param klCoef coefficient of the KL penalty after this iteration, or null where there is none
 */
public record IterationState(
        String checkpoint,
        String checkpointSha256,
        Cursor cursor,
        long optimizerSteps,
        long seed,
        List<String> carriedGroups,
        Double klCoef) {

    /** Copies the list. */
    public IterationState {
        carriedGroups = carriedGroups == null ? List.of() : List.copyOf(carriedGroups);
    }

    /** The state after a checkpoint was published. */
    public static IterationState of(
            Checkpoint checkpoint, Cursor cursor, long optimizerSteps, long seed, Double klCoef) {
        return new IterationState(
                checkpoint.relativePath(),
                checkpoint.manifestSha256(),
                cursor,
                optimizerSteps,
                seed,
                List.of(),
                klCoef);
    }

    /** The same with groups for the next iteration. */
    public IterationState withCarriedGroups(List<String> groups) {
        return new IterationState(checkpoint, checkpointSha256, cursor, optimizerSteps, seed, groups, klCoef);
    }

    /** The state before the first iteration. */
    public static IterationState initial(long seed, Double klCoef) {
        return new IterationState(null, null, Cursor.START, 0, seed, List.of(), klCoef);
    }
}
