package io.bellows.stage;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.hash;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.pmod;

import io.bellows.model.PackedSequences;
import io.bellows.resident.ExecutorHost;
import io.bellows.resident.ExecutorHost.Role;
import io.bellows.resident.ResidentModel;
import io.bellows.resident.ResidentSettings;
import io.bellows.resident.WeightsRef;
import io.bellows.training.TrainingSequence;
import io.bellows.udfs.batching.MicroBatches;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Trajectories in, log-probs out: what the policy before its update, and the reference policy if there is one, say about
 * each response token.
 *
 * @param runId the run
 * @param resident how executors set models up
 * @param temperature the temperature of the rollout
 * @param maxTokens hard token budget of a micro-batch
 * @param partitions tasks, as a rule one per executor
 */
public record LogProbStage(String runId, ResidentSettings resident, double temperature, int maxTokens, int partitions)
        implements Serializable {

    private static final ArrayType FLOATS = DataTypes.createArrayType(DataTypes.FloatType, false);
    private static final StructType OUTPUT = new StructType()
            .add("trajectory_id", DataTypes.StringType, false)
            .add("segment_index", DataTypes.IntegerType, false)
            .add("response_mask", DataTypes.createArrayType(DataTypes.IntegerType, false), false)
            .add("old_log_probs", FLOATS, false)
            .add("ref_log_probs", FLOATS, true);

    /**
     * Describes the passes.
     *
     * @param trajectories rows of {@link io.bellows.trajectory.Table#TRAJECTORIES}
     * @param policy the policy that sampled them
     * @param reference the reference policy, or null for none
     * @return {@code trajectory_id, segment_index, response_mask, old_log_probs, ref_log_probs}
     */
    public Dataset<Row> run(Dataset<Row> trajectories, WeightsRef policy, WeightsRef reference) {
        return trajectories
                .select(
                        "group_id",
                        "sample_index",
                        "trajectory_id",
                        "segment_index",
                        "prompt_ids",
                        "response_ids",
                        "response_mask")
                .repartitionById(
                        partitions, pmod(hash(col("group_id")), lit(partitions)).cast("int"))
                .sortWithinPartitions("group_id", "sample_index", "segment_index")
                .mapPartitions(
                        (MapPartitionsFunction<Row, Row>) rows -> score(rows, policy, reference), Encoders.row(OUTPUT));
    }

    private Iterator<Row> score(Iterator<Row> input, WeightsRef policy, WeightsRef reference) {
        List<Row> rows = new ArrayList<>();
        input.forEachRemaining(rows::add);
        List<TrainingSequence> sequences = rows.stream().map(TrainingRows::read).toList();
        float[][] old = logProbs(Role.POLICY, policy, sequences);
        float[][] ref = reference == null ? null : logProbs(Role.REFERENCE, reference, sequences);
        List<Row> out = new ArrayList<>();
        for (int i = 0; i < rows.size(); i++) {
            out.add(RowFactory.create(
                    rows.get(i).getAs("trajectory_id"),
                    rows.get(i).getAs("segment_index"),
                    TrainingRows.ints(rows.get(i), "response_mask"),
                    old[i],
                    ref == null ? null : ref[i]));
        }
        return out.iterator();
    }

    private float[][] logProbs(Role role, WeightsRef weights, List<TrainingSequence> sequences) {
        ResidentModel model = ExecutorHost.model(runId, role, weights, resident);
        float[][] logProbs = new float[sequences.size()][0]; // an empty response has no log-probs
        int[] scored = java.util.stream.IntStream.range(0, sequences.size())
                .filter(i -> sequences.get(i).responseIds().length > 0)
                .toArray();
        int[] lengths =
                Arrays.stream(scored).map(i -> sequences.get(i).length()).toArray();
        for (int[] micro : scored.length == 0 ? List.<int[]>of() : MicroBatches.plan(lengths, maxTokens)) {
            int[] members = Arrays.stream(micro)
                    .map(i -> scored[i])
                    .boxed()
                    .sorted(Comparator.comparingInt(i -> sequences.get(i).length()))
                    .mapToInt(Integer::intValue)
                    .toArray();
            PackedSequences packed = PackedSequences.of(Arrays.stream(members)
                    .mapToObj(i -> sequences.get(i).sequence())
                    .toList());
            float[] all =
                    model.decoder().score(model.weights(), packed, temperature).logProbs();
            int at = 0;
            for (int i : members) {
                int length = sequences.get(i).responseIds().length;
                logProbs[i] = Arrays.copyOfRange(all, at, at + length);
                at += length;
            }
        }
        return logProbs;
    }
}
