package io.bellows.stage;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.expr;
import static org.apache.spark.sql.functions.hash;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.pmod;

import io.bellows.model.PackedSequences;
import io.bellows.resident.ExecutorHost;
import io.bellows.resident.ExecutorHost.Role;
import io.bellows.resident.ResidentModel;
import io.bellows.resident.ResidentSettings;
import io.bellows.resident.WeightsRef;
import io.bellows.training.MicroBatching;
import io.bellows.training.Passes;
import io.bellows.training.TrainingSequence;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Trajectories in, log-probs and values out: what the policy before its update, the reference policy and the critic say
 * about each response token.
 *
 * @param runId the run
 * @param resident how executors set models up
 * @param temperature the temperature of the rollout
 * @param microBatching how the rows are cut for each model
 * @param partitions tasks, as a rule one per executor
 */
public record LogProbStage(
        String runId,
        ResidentSettings resident,
        double temperature,
        Map<Role, MicroBatching> microBatching,
        int partitions)
        implements Serializable {

    private static final ArrayType FLOATS = DataTypes.createArrayType(DataTypes.FloatType, false);
    private static final StructType OUTPUT = new StructType()
            .add("trajectory_id", DataTypes.StringType, false)
            .add("segment_index", DataTypes.IntegerType, false)
            .add("response_mask", DataTypes.createArrayType(DataTypes.IntegerType, false), false)
            .add("last_segment", DataTypes.BooleanType, false)
            .add("rollout_log_probs", FLOATS, false)
            .add("old_log_probs", FLOATS, false)
            .add("ref_log_probs", FLOATS, true)
            .add("values", FLOATS, true);

    /** What a model says about the response tokens of some sequences, laid end to end. */
    private interface Pass {
        float[] over(ResidentModel model, PackedSequences sequences);
    }

    /**
     * Describes the passes.
     *
     * @param trajectories rows of {@link io.bellows.trajectory.Table#TRAJECTORIES}
     * @param policy the policy that sampled them, or null to take the log-probs that its engine recorded for its own (verl's
     *     {@code bypass_mode})
     * @param reference the reference policy, or null for none
     * @param critic the critic, or null for none
     * @return {@code trajectory_id, segment_index, response_mask, last_segment, rollout_log_probs, old_log_probs, ref_log_probs, values}; entry t
     *     of {@code values} is what the critic expects before response token t, 0 where that was not sampled
     */
    public Dataset<Row> run(Dataset<Row> trajectories, WeightsRef policy, WeightsRef reference, WeightsRef critic) {
        return trajectories
                .select(
                        "group_id",
                        "sample_index",
                        "trajectory_id",
                        "segment_index",
                        "prompt_ids",
                        "response_ids",
                        "response_mask",
                        "rollout_log_probs",
                        "metrics")
                .withColumn(
                        "last_segment",
                        expr("segment_index = coalesce(element_at(metrics, 'num_segments'), 1D) - 1"))
                .drop("metrics")
                .repartitionById(
                        partitions, pmod(hash(col("group_id")), lit(partitions)).cast("int"))
                .sortWithinPartitions("group_id", "sample_index", "segment_index")
                .mapPartitions(
                        (MapPartitionsFunction<Row, Row>) rows -> score(rows, policy, reference, critic),
                        Encoders.row(OUTPUT))
                .withColumn(
                        "values", expr("zip_with(values, response_mask, (v, m) -> IF(m = 1, v, CAST(0 AS FLOAT)))"));
    }

    private Iterator<Row> score(Iterator<Row> input, WeightsRef policy, WeightsRef reference, WeightsRef critic) {
        List<Row> rows = new ArrayList<>();
        input.forEachRemaining(rows::add);
        List<TrainingSequence> sequences = rows.stream().map(TrainingRows::read).toList();
        List<float[]> old = pass(Role.POLICY, policy, sequences, this::logProbs);
        List<float[]> ref = pass(Role.REFERENCE, reference, sequences, this::logProbs);
        List<float[]> values = pass(Role.CRITIC, critic, sequences, LogProbStage::values);
        List<Row> out = new ArrayList<>();
        for (int i = 0; i < rows.size(); i++) {
            float[] rollout = TrainingRows.floats(rows.get(i), "rollout_log_probs");
            out.add(RowFactory.create(
                    rows.get(i).getAs("trajectory_id"),
                    rows.get(i).getAs("segment_index"),
                    TrainingRows.ints(rows.get(i), "response_mask"),
                    rows.get(i).getAs("last_segment"),
                    rollout,
                    policy == null ? rollout : old.get(i),
                    ref.get(i),
                    values.get(i)));
        }
        return out.iterator();
    }

    private float[] logProbs(ResidentModel model, PackedSequences sequences) {
        return model.decoder().score(model.weights(), sequences, temperature).logProbs();
    }

    private static float[] values(ResidentModel model, PackedSequences sequences) {
        return model.decoder().values(model.weights(), sequences);
    }

    /** What a model says about the response tokens of each sequence; about none without the model. */
    private List<float[]> pass(Role role, WeightsRef weights, List<TrainingSequence> sequences, Pass pass) {
        if (weights == null) {
            return Collections.nCopies(sequences.size(), null);
        }
        ResidentModel model = ExecutorHost.model(runId, role, weights, resident);
        // A prompt without a response may be longer than the model takes.
        List<TrainingSequence> answered =
                sequences.stream().filter(row -> row.responseIds().length > 0).toList();
        Iterator<float[]> numbers = Passes.over(
                        answered, microBatching.get(role), packed -> pass.over(model, packed))
                .iterator();
        return sequences.stream()
                .map(row -> row.responseIds().length > 0 ? numbers.next() : new float[0])
                .toList();
    }
}
