package io.bellows.stage;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.expr;
import static org.apache.spark.sql.functions.hash;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.pmod;

import io.bellows.model.PackedSequences;
import io.bellows.model.TokenScores;
import io.bellows.resident.ExecutorHost;
import io.bellows.resident.ExecutorHost.Role;
import io.bellows.resident.ResidentModel;
import io.bellows.resident.ResidentSettings;
import io.bellows.resident.WeightsRef;
import io.bellows.training.MicroBatching;
import io.bellows.training.Passes;
import io.bellows.training.TrainingSequence;
import io.bellows.udfs.advantage.AdvantageEstimator;
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
 * @param squares whether sums of squared probabilities are computed too
 * @param microBatching how the rows are cut for each model
 * @param partitions tasks, as a rule one per executor
 */
public record LogProbStage(
        String runId,
        ResidentSettings resident,
        double temperature,
        Squares squares,
        Map<Role, MicroBatching> microBatching,
        int partitions)
        implements Serializable {

    private static final ArrayType FLOATS = DataTypes.createArrayType(DataTypes.FloatType, false);
    private static final StructType OUTPUT = new StructType()
            .add("trajectory_id", DataTypes.StringType, false)
            .add("segment_index", DataTypes.IntegerType, false)
            .add("response_mask", DataTypes.createArrayType(DataTypes.IntegerType, false), false)
            .add("rollout_log_probs", FLOATS, false)
            .add("old_log_probs", FLOATS, false)
            .add("ref_log_probs", FLOATS, true)
            .add("squared_probabilities", FLOATS, true)
            .add("values", FLOATS, true);

    /** Whether the sum of the squared probabilities of each token's distribution is computed, which few estimators read. */
    public enum Squares {
        /** It is not. */
        NONE,
        /** It is, of the policy before its update. */
        SUMMED;

        /** What an estimator needs. */
        public static Squares of(AdvantageEstimator estimator) {
            return estimator.inputs().contains(AdvantageEstimator.Input.SQUARED_PROBABILITIES) ? SUMMED : NONE;
        }
    }

    /** What a model says about the response tokens of some sequences, laid end to end. */
    private interface Pass {
        List<float[]> over(ResidentModel model, PackedSequences sequences);
    }

    /**
     * Describes the passes.
     *
     * @param trajectories rows of {@link io.bellows.trajectory.Table#TRAJECTORIES}
     * @param policy the policy that sampled them, or null to take the log-probs that its engine recorded for its own (verl's
     *     {@code bypass_mode})
     * @param reference the reference policy, or null for none
     * @param critic the critic, or null for none
     * @return {@code trajectory_id, segment_index, response_mask, rollout_log_probs, old_log_probs, ref_log_probs,
     *     squared_probabilities, values}, null what no model was asked for; entry t of {@code values} is what the critic
     *     expects before response token t, 0 where that was not sampled
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
                        "rollout_log_probs")
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
        boolean squared = squares == Squares.SUMMED && policy != null;
        List<List<float[]>> old = squared
                ? pass(Role.POLICY, policy, sequences, 2, this::logProbsAndSquares)
                : pass(Role.POLICY, policy, sequences, 1, this::logProbs);
        List<float[]> ref =
                pass(Role.REFERENCE, reference, sequences, 1, this::logProbs).get(0);
        List<float[]> values =
                pass(Role.CRITIC, critic, sequences, 1, LogProbStage::values).get(0);
        List<Row> out = new ArrayList<>();
        for (int i = 0; i < rows.size(); i++) {
            float[] rollout = TrainingRows.floats(rows.get(i), "rollout_log_probs");
            out.add(RowFactory.create(
                    rows.get(i).getAs("trajectory_id"),
                    rows.get(i).getAs("segment_index"),
                    TrainingRows.ints(rows.get(i), "response_mask"),
                    rollout,
                    policy == null ? rollout : old.get(0).get(i),
                    ref.get(i),
                    squared ? old.get(1).get(i) : null,
                    values.get(i)));
        }
        return out.iterator();
    }

    private List<float[]> logProbs(ResidentModel model, PackedSequences sequences) {
        return List.of(
                model.decoder().score(model.weights(), sequences, temperature).logProbs());
    }

    private List<float[]> logProbsAndSquares(ResidentModel model, PackedSequences sequences) {
        TokenScores scores = model.decoder().scoreWithSquares(model.weights(), sequences, temperature);
        return List.of(scores.logProbs(), scores.squaredProbabilities());
    }

    private static List<float[]> values(ResidentModel model, PackedSequences sequences) {
        return List.of(model.decoder().values(model.weights(), sequences));
    }

    /** What a model says about the response tokens of each sequence; about none without the model. */
    private List<List<float[]>> pass(
            Role role, WeightsRef weights, List<TrainingSequence> sequences, int count, Pass pass) {
        if (weights == null) {
            return Collections.nCopies(count, Collections.nCopies(sequences.size(), null));
        }
        ResidentModel model = ExecutorHost.model(runId, role, weights, resident);
        return Passes.together(sequences, microBatching.get(role), count, packed -> pass.over(model, packed));
    }
}
