package io.bellows.run;

import io.bellows.data.Cursor;

/**
 * What an iteration leaves behind for the next one; part of the manifest that commits it.
 *
 * @param checkpoint folder of the checkpoint below the run directory, such as {@code checkpoints/000007}; null for iteration 0,
 *     whose model is {@code model.path}
 * @param checkpointSha256 checksum of that checkpoint's manifest, or null
 * @param cursor how far the data was read
 * @param optimizerSteps optimizer steps since the beginning of the run
 * @param seed seed of the run, from which every other is derived
 * @param klCoef coefficient of the KL penalty after this iteration, or null where there is none
 */
public record IterationState(
        String checkpoint, String checkpointSha256, Cursor cursor, long optimizerSteps, long seed, Double klCoef) {

    /** The state after a checkpoint was published. */
    public static IterationState of(
            Checkpoint checkpoint, Cursor cursor, long optimizerSteps, long seed, Double klCoef) {
        return new IterationState(
                checkpoint.relativePath(), checkpoint.manifestSha256(), cursor, optimizerSteps, seed, klCoef);
    }

    /** The state before the first iteration. */
    public static IterationState initial(long seed, Double klCoef) {
        return new IterationState(null, null, Cursor.START, 0, seed, klCoef);
    }
}
