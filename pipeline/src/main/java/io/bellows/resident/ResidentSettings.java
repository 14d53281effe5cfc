package io.bellows.resident;

import io.bellows.config.BellowsConfig;
import io.bellows.engine.EngineSettings;
import java.io.Serializable;

/**
 * How an executor sets a model up.
 *
 * @param maxLength longest sequence in tokens
 * @param engine slots, prefill chunk and admission of the inference engine
 * @param threads native threads of a matrix product
 */
public record ResidentSettings(int maxLength, EngineSettings engine, int threads) implements Serializable {

    /**
     * Takes the settings from a configuration.
     *
     * @param config the configuration
     * @return the settings
     */
    public static ResidentSettings of(BellowsConfig config) {
        boolean deterministic = config.trainer().deterministic();
        EngineSettings engine = new EngineSettings(
                config.rollout().maxNumSeqs(),
                config.maxSequenceLength(),
                config.rollout().maxNumBatchedTokens(),
                deterministic ? EngineSettings.Admission.ORDERED : EngineSettings.Admission.CONTINUOUS);
        return new ResidentSettings(config.maxSequenceLength(), engine, deterministic ? 1 : nativeThreads());
    }

    /** The launcher sets {@code OMP_NUM_THREADS}; without it libtorch would take every core for itself. */
    private static int nativeThreads() {
        String set = System.getenv("OMP_NUM_THREADS");
        return set != null && set.matches("[1-9][0-9]{0,3}")
                ? Integer.parseInt(set)
                : Runtime.getRuntime().availableProcessors();
    }
}
