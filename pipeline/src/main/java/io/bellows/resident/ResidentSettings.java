package io.bellows.resident;

import io.bellows.config.BellowsConfig;
import io.bellows.engine.Admission;
import io.bellows.engine.EngineSettings;
import io.bellows.model.Activations;
import io.bellows.model.ComputeType;
import java.io.Serializable;

/**
 * How an executor sets a model up.
 *
 * @param maxLength longest sequence in tokens
 * @param slots sequences the engine decodes at once
 * @param prefillChunk prompt tokens the engine takes in per step
 * @param admission when the engine lets requests in
 * @param threads native threads of a matrix product
 * @param compute what the model computes in
 * @param activations what a training pass keeps
 */
public record ResidentSettings(
        int maxLength,
        int slots,
        int prefillChunk,
        Admission admission,
        int threads,
        ComputeType compute,
        Activations activations)
        implements Serializable {

    /**
     * Takes the settings from a configuration.
     *
     * @param config the configuration
     * @return the settings
     */
    public static ResidentSettings of(BellowsConfig config) {
        boolean deterministic = config.trainer().deterministic();
        return new ResidentSettings(
                config.maxSequenceLength(),
                config.rollout().maxNumSeqs(),
                config.rollout().maxNumBatchedTokens(),
                deterministic ? Admission.ORDERED : Admission.CONTINUOUS,
                deterministic ? 1 : nativeThreads(),
                ComputeType.named(config.model().dtype()),
                config.model().enableGradientCheckpointing() ? Activations.RECOMPUTE : Activations.KEEP);
    }

    EngineSettings engine() {
        return new EngineSettings(slots, maxLength, prefillChunk, admission);
    }

    /** The launcher sets {@code OMP_NUM_THREADS}; without it libtorch would take every core for itself. */
    private static int nativeThreads() {
        String set = System.getenv("OMP_NUM_THREADS");
        return set != null && set.matches("[1-9][0-9]{0,3}")
                ? Integer.parseInt(set)
                : Runtime.getRuntime().availableProcessors();
    }
}
