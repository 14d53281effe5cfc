package io.bellows.resident;

import io.bellows.config.BellowsConfig;
import io.bellows.engine.Admission;
import io.bellows.engine.EngineSettings;
import io.bellows.model.Activations;
import io.bellows.model.ComputeType;
import java.io.Serializable;
import org.apache.spark.SparkEnv;

/**
 * How an executor sets a model up.
 *
 * @param maxLength longest sequence in tokens
 * @param slots sequences the engine decodes at once
 * @param prefillChunk prompt tokens the engine takes in per step
 * @param admission when the engine lets requests in
 * @param threads native threads of a matrix product; 0: as the executor's environment says
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

    private static final int AS_THE_EXECUTOR_SAYS = 0;

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
                deterministic ? 1 : AS_THE_EXECUTOR_SAYS,
                ComputeType.named(config.model().dtype()),
                config.model().enableGradientCheckpointing() ? Activations.RECOMPUTE : Activations.KEEP);
    }

    EngineSettings engine() {
        return new EngineSettings(slots, maxLength, prefillChunk, admission);
    }

    /** Asked on the executor, whose environment is not the driver's. */
    int nativeThreads() {
        if (threads != AS_THE_EXECUTOR_SAYS) {
            return threads;
        }
        String set = System.getenv("OMP_NUM_THREADS"); // the launcher sets it, and the presets for executors
        if (set != null && set.matches("[1-9][0-9]{0,3}")) {
            return Integer.parseInt(set);
        }
        int all = Runtime.getRuntime().availableProcessors();
        SparkEnv spark = SparkEnv.get();
        return spark == null ? all : Math.min(all, spark.conf().getInt("spark.executor.cores", all));
    }
}
