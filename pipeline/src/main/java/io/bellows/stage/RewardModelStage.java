package io.bellows.stage;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.hash;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.pmod;

import io.bellows.config.BellowsConfig;
import io.bellows.config.RewardModelInput;
import io.bellows.data.PromptSchema;
import io.bellows.model.ModelConfig;
import io.bellows.resident.ExecutorHost;
import io.bellows.resident.ExecutorHost.Role;
import io.bellows.resident.ResidentModel;
import io.bellows.resident.ResidentSettings;
import io.bellows.resident.WeightsRef;
import io.bellows.text.ChatTokenizer;
import io.bellows.text.GenerationPrompt;
import io.bellows.text.Message;
import io.bellows.training.MicroBatching;
import io.bellows.training.Passes;
import io.bellows.training.TrainingSequence;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
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
 * reads the ids that the policy sampled where they mean the same to it, else the messages up to the policy's last one, by its own chat
 * template and tokenizer. Of a trajectory of several segments it reads the last one, which holds the conversation as it ended.
 *
 * @param runId the run
 * @param resident how executors set models up
 * @param model the reward model
 * @param input what it is given
 * @param longest the most tokens that it takes
 * @param microBatching how the trajectories are cut
 * @param partitions tasks, as a rule one per executor
 */
public record RewardModelStage(
        String runId,
        ResidentSettings resident,
        WeightsRef model,
        RewardModelInput input,
        int longest,
        MicroBatching microBatching,
        int partitions)
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
        if (!config.rewardModel().enable()) {
            return null;
        }
        Path folder = Path.of(config.rewardModel().model().path());
        try {
            return new RewardModelStage(
                    runId,
                    ResidentSettings.of(config),
                    WeightsRef.initial(folder.toString()),
                    RewardModelInput.of(folder, Path.of(config.model().path())),
                    ModelConfig.read(folder).maxPositions(),
                    MicroBatching.of(config.rewardModelLimit()),
                    partitions);
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "Cannot read the tokenizer of reward_model.model.path = '" + folder + "': " + e.getMessage(), e);
        }
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
        Double[] scores = new Double[first.size()];
        int[] asked = IntStream.range(0, first.size())
                .filter(i -> isAsked(first.get(i), last.get(i)))
                .toArray();
        if (asked.length > 0) {
            ask(ExecutorHost.model(runId, Role.REWARD_MODEL, model, resident), asked, last, scores);
        }
        return IntStream.range(0, first.size())
                .mapToObj(i -> with(first.get(i), scores[i]))
                .iterator();
    }

    private void ask(ResidentModel asked, int[] candidates, List<Row> rows, Double[] scores) {
        List<TrainingSequence> sequences = new ArrayList<>();
        List<Integer> places = new ArrayList<>();
        for (int place : candidates) {
            TrainingSequence sequence = input == RewardModelInput.POLICY_IDS
                    ? TrainingRows.read(rows.get(place))
                    : encoded(rows.get(place), asked.tokenizer(model, Map.of()));
            if (sequence.promptIds().length + sequence.responseIds().length <= longest) {
                sequences.add(sequence);
                places.add(place);
            }
        }
        float[] given =
                Passes.whole(sequences, microBatching, batch -> asked.decoder().scores(asked.weights(), batch));
        for (int i = 0; i < given.length; i++) {
            scores[places.get(i)] = (double) given[i];
        }
    }

    /** The conversation in the reward model's own ids, to the end of the policy's last message. */
    private static TrainingSequence encoded(Row row, ChatTokenizer text) {
        List<Message> messages = new ArrayList<>(PromptSchema.messages(row, "prompt"));
        messages.addAll(PromptSchema.messages(row, "completion"));
        while (!messages.get(messages.size() - 1).role().equals("assistant")) {
            messages.remove(messages.size() - 1); // what the environment said last, which the policy never read
        }
        int[] ids = text.encode(messages, null, GenerationPrompt.NONE).ids();
        return TrainingSequence.lesson(row.getAs("trajectory_id"), ids, new int[0], new boolean[0]);
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
