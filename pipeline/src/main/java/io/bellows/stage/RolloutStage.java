package io.bellows.stage;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.pmod;

import io.bellows.client.Servers;
import io.bellows.data.PromptSchema;
import io.bellows.env.EnvironmentSettings;
import io.bellows.resident.ResidentSettings;
import io.bellows.resident.WeightsRef;
import io.bellows.trajectory.Schemas;
import io.bellows.trajectory.Table;
import java.io.Serializable;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;

/**
 * Prompts in, trajectories out: a narrow map on the executors that hold the inference engine.
 *
 * <p>Nothing may count, sort, show or shuffle the result before it is written: each would generate again.
 *
 * @param runId the run
 * @param resident how executors set the model up
 * @param sampling how responses are sampled
 * @param environments which environments trajectories run in, and how
 * @param partitions tasks of the rollout, as a rule one per executor
 * @param servers who answers instead of the resident model, which then lends its tokenizer only; or null
 */
public record RolloutStage(
        String runId,
        ResidentSettings resident,
        RolloutSampling sampling,
        EnvironmentSettings environments,
        int partitions,
        Servers servers)
        implements Serializable {

    /** Names of the samples of a prompt, an array of integers: an optional column of prompts, without which there are all. */
    public static final String SAMPLES = "samples";

    /** How often each of {@link #SAMPLES} was tried before, an array as long. */
    public static final String ATTEMPTS = "attempts";

    /** A rollout that the resident model answers. */
    public RolloutStage(
            String runId,
            ResidentSettings resident,
            RolloutSampling sampling,
            EnvironmentSettings environments,
            int partitions) {
        this(runId, resident, sampling, environments, partitions, null);
    }

    /** Returns the same, answered by servers: {@link ResidentSettings#slots} trajectories of a task run at once. */
    public RolloutStage with(Servers others) {
        return new RolloutStage(runId, resident, sampling, environments, partitions, others);
    }

    /**
     * Describes the rollout.
     *
     * @param prompts rows of {@link PromptSchema#PROMPT} with their {@code position} in the batch, and where only some samples are wanted
     *     {@link #SAMPLES} and {@link #ATTEMPTS}
     * @param iteration the iteration, part of every seed and key
     * @param weights the policy
     * @return rows of {@link Table#TRAJECTORIES}: {@link RolloutSampling#trajectoriesPerPrompt} trajectories per prompt, each of one row
     *     or of one for each segment; evaluated when written
     */
    public Dataset<Row> run(Dataset<Row> prompts, int iteration, WeightsRef weights) {
        return prompts.repartitionById(
                        partitions, pmod(col("position"), lit(partitions)).cast("int"))
                .sortWithinPartitions("position")
                .mapPartitions(
                        (MapPartitionsFunction<Row, Row>) rows -> new RolloutTask(this, iteration, weights).run(rows),
                        Encoders.row(Schemas.struct(Table.TRAJECTORIES)));
    }
}
