package io.bellows.stage;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.lit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.bellows.data.PromptSchema;
import io.bellows.reward.RewardInput;
import io.bellows.reward.RewardOutcome;
import io.bellows.reward.RewardScore;
import io.bellows.reward.WeightedRewards;
import io.bellows.text.Message;
import io.bellows.trajectory.Schemas;
import io.bellows.trajectory.Score;
import io.bellows.trajectory.Table;
import io.bellows.trajectory.TrajectoryKey;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.api.java.function.FlatMapGroupsFunction;
import org.apache.spark.api.java.function.MapFunction;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;

/**
 * Trajectories in, scores out. The one place where rewards are given: a score that its environment gave a trajectory is taken as it is, all
 * others are scored here, the samples of a prompt together where a reward function compares them. A trajectory that failed, or in which nothing
 * was sampled, stays unscored.
 *
 * @param rewards the weighted reward functions
 * @param model the reward model that is asked first, or null for none
 */
public record ScoreStage(WeightedRewards rewards, RewardModelStage model) implements Serializable {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Encoder<Row> SCORES = Encoders.row(Schemas.struct(Table.SCORES));

    /** What is read of a trajectory. */
    private static final List<Column> READ = Stream.of(
                    "run_id",
                    "iteration",
                    "group_id",
                    "prompt_id",
                    "sample_index",
                    "data_source",
                    "prompt",
                    "completion",
                    "response_mask",
                    "status",
                    "stop_condition",
                    "error_message",
                    "metrics",
                    "ground_truth",
                    "extra",
                    "score",
                    RewardModelStage.MODEL_SCORE)
            .map(functions::col)
            .toList();

    /** Scores by reward functions alone. */
    public ScoreStage(WeightedRewards rewards) {
        this(rewards, null);
    }

    /**
     * Scores trajectories.
     *
     * @param trajectories rows of {@link Table#TRAJECTORIES}
     * @return rows of {@link Table#SCORES}, one per trajectory
     */
    public Dataset<Row> run(Dataset<Row> trajectories) {
        Dataset<Row> first = judged(trajectories)
                .where(col("segment_index").equalTo(0)) // its first segment has the whole conversation
                .select(READ.toArray(Column[]::new));
        if (!rewards.comparesSamples()) {
            return first.map((MapFunction<Row, Row>) row -> scored(List.of(row)).get(0), SCORES);
        }
        return first.groupByKey((MapFunction<Row, String>) row -> row.getAs("group_id"), Encoders.STRING())
                .flatMapGroups(
                        (FlatMapGroupsFunction<String, Row, Row>) (group, rows) -> {
                            List<Row> samples = new ArrayList<>();
                            rows.forEachRemaining(samples::add);
                            samples.sort(Comparator.comparingInt(ScoreStage::sampleIndex));
                            return scored(samples).iterator();
                        },
                        SCORES);
    }

    private Dataset<Row> judged(Dataset<Row> trajectories) {
        return model == null
                ? trajectories.withColumn(
                        RewardModelStage.MODEL_SCORE, lit(null).cast(DataTypes.DoubleType))
                : model.run(trajectories);
    }

    /** The scores of some trajectories, those of a group together. */
    private List<Row> scored(List<Row> rows) {
        List<Score> scores = new ArrayList<>();
        List<Integer> compared = new ArrayList<>();
        for (int i = 0; i < rows.size(); i++) {
            Row row = rows.get(i);
            Score known = known(row);
            if (known == null && sampleIndex(row) == TrajectoryKey.GREEDY_BASELINE) {
                known = Score.of(rewards.score(input(row))); // no sample of the group
            }
            scores.add(known);
            if (known == null) {
                compared.add(i);
            }
        }
        List<RewardScore> given = rewards.scoreGroup(
                compared.stream().map(i -> input(rows.get(i))).toList());
        for (int i = 0; i < given.size(); i++) {
            scores.set(compared.get(i), Score.of(given.get(i)));
        }
        return IntStream.range(0, rows.size())
                .mapToObj(i -> scores.get(i).toRow(key(rows.get(i)), rows.get(i).getAs("data_source")))
                .toList();
    }

    private static TrajectoryKey key(Row row) {
        return new TrajectoryKey(
                row.getAs("run_id"),
                row.getAs("iteration"),
                row.getAs("group_id"),
                row.getAs("prompt_id"),
                row.getAs("sample_index"));
    }

    private static int sampleIndex(Row row) {
        return row.<Integer>getAs("sample_index");
    }

    /** The score that a trajectory has without its rewards being asked, or null. */
    private static Score known(Row row) {
        if ("failed".equals(row.getAs("status"))) {
            return unscored("the trajectory failed: " + row.getAs("error_message"));
        }
        if (sampledTokens(row) == 0) {
            return unscored("the trajectory has no token of the policy: " + row.getAs("stop_condition"));
        }
        Row streamed = row.getAs("score");
        return streamed == null ? null : Score.of(streamed);
    }

    private static Score unscored(String reason) {
        return Score.of(new RewardScore(null, Map.of(), RewardOutcome.Status.UNSCORED, reason));
    }

    /** Tokens that the policy sampled in all segments. */
    private static int sampledTokens(Row row) {
        Map<String, Double> metrics = row.getJavaMap(row.fieldIndex("metrics"));
        if (metrics.containsKey("completion_tokens")) {
            return metrics.get("completion_tokens").intValue();
        }
        return IntStream.of(TrainingRows.ints(row, "response_mask")).sum();
    }

    private static RewardInput input(Row row) {
        List<Message> completion = PromptSchema.messages(row, "completion");
        String response = null;
        for (Message message : completion) {
            response = message.role().equals("assistant") ? message.content() : response;
        }
        return new RewardInput(
                row.getAs("data_source"),
                PromptSchema.messages(row, "prompt"),
                completion,
                response,
                sampledTokens(row),
                row.getAs("ground_truth"),
                row.getAs(RewardModelStage.MODEL_SCORE),
                json(row.getAs("extra")));
    }

    private static JsonNode json(String text) {
        try {
            return text == null ? JsonNodeFactory.instance.objectNode() : JSON.readTree(text);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("Cannot read the column extra, which Bellows itself wrote: " + text, e);
        }
    }
}
