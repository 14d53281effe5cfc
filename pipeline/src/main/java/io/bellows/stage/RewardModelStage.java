package io.bellows.stage;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.hash;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.pmod;

import io.bellows.config.BellowsConfig;
import io.bellows.resident.ExecutorHost;
import io.bellows.resident.ExecutorHost.Role;
import io.bellows.resident.ResidentModel;
import io.bellows.resident.ResidentSettings;
import io.bellows.resident.WeightsRef;
import io.bellows.training.MicroBatching;
import io.bellows.training.Passes;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Trajectories in, the same with what a reward model says of each out: the number of a sequence-classification head at the last token. It
 * reads the ids that the policy sampled, so it shares the policy's tokenizer and chat template. Of a trajectory of several segments it reads
 * the last one, which holds the conversation as it ended.
 *
 * @param runId the run
 * @param resident how executors set models up
 * @param model the reward model
 * @param microBatching how the trajectories are cut
 * @param partitions tasks, as a rule one per executor
 */
public record RewardModelStage(
        String runId, ResidentSettings resident, WeightsRef model, MicroBatching microBatching, int partitions)
        implements Serializable {

    /** The column that is added; null where the model was not asked. */
    static final String MODEL_SCORE = "model_score";

    /**
     * The stage that a configuration asks for.
     *
     * @param config the configuration
     * @param runId the run
     * @param partitions tasks
     * @return the stage, or null without a reward model
     */
    public static RewardModelStage of(BellowsConfig config, String runId, int partitions) {
        return config.rewardModel().enable()
                ? new RewardModelStage(
                        runId,
                        ResidentSettings.of(config),
                        WeightsRef.initial(config.rewardModel().model().path()),
                        MicroBatching.of(config.rewardModelLimit()),
                        partitions)
                : null;
    }

    /**
     * Describes the pass.
     *
     * @param trajectories rows of {@link io.bellows.trajectory.Table#TRAJECTORIES}, all segments of each trajectory
     * @return the first segment of each, with {@value #MODEL_SCORE}
     */
    Dataset<Row> run(Dataset<Row> trajectories) {
        StructType schema = trajectories.schema().add(MODEL_SCORE, DataTypes.DoubleType);
        return trajectories
                .repartitionById(
                        partitions, pmod(hash(col("group_id")), lit(partitions)).cast("int"))
                .sortWithinPartitions("group_id", "sample_index", "segment_index")
                .mapPartitions((MapPartitionsFunction<Row, Row>) this::scored, Encoders.row(schema));
    }

    private Iterator<Row> scored(Iterator<Row> rows) {
        List<Row> first = new ArrayList<>();
        List<Row> last = new ArrayList<>();
        rows.forEachRemaining(row -> {
            if (row.<Integer>getAs("segment_index") == 0) {
                first.add(row);
                last.add(row);
            } else {
                last.set(last.size() - 1, row);
            }
        });
        int[] asked = IntStream.range(0, first.size())
                .filter(i -> isAsked(first.get(i), last.get(i)))
                .toArray();
        Double[] scores = new Double[first.size()];
        if (asked.length > 0) {
            ResidentModel resident = ExecutorHost.model(runId, Role.REWARD_MODEL, model, this.resident);
            float[] given = Passes.whole(
                    IntStream.of(asked)
                            .mapToObj(i -> TrainingRows.read(last.get(i)))
                            .toList(),
                    microBatching,
                    sequences -> resident.decoder().scores(resident.weights(), sequences));
            for (int i = 0; i < asked.length; i++) {
                scores[asked[i]] = (double) given[i];
            }
        }
        return IntStream.range(0, first.size())
                .mapToObj(i -> with(first.get(i), scores[i]))
                .iterator();
    }

    /** Not of what failed, of what has a score already, and of what ends in a prompt, which may be longer than the model takes. */
    private static boolean isAsked(Row first, Row last) {
        return !"failed".equals(first.getAs("status"))
                && first.getAs("score") == null
                && !last.getList(last.fieldIndex("response_ids")).isEmpty();
    }

    private static Row with(Row row, Double score) {
        Object[] values = new Object[row.size() + 1];
        for (int i = 0; i < row.size(); i++) {
            values[i] = row.get(i);
        }
        values[row.size()] = score;
        return RowFactory.create(values);
    }
}
