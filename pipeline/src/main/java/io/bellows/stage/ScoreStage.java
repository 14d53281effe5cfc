package io.bellows.stage;

import static org.apache.spark.sql.functions.col;

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
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.spark.api.java.function.MapFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;

/**
 * Trajectories in, scores out. The one place where rewards are given: a score that its environment gave a trajectory is taken as it is, all
 * others are scored here. A trajectory that failed, or in which nothing was sampled, stays unscored.
 *
 * @param rewards the weighted reward functions
 */
public record ScoreStage(WeightedRewards rewards) implements Serializable {

    private static final ObjectMapper JSON = new ObjectMapper();

    /**
     * Scores trajectories.
     *
     * @param trajectories rows of {@link Table#TRAJECTORIES}
     * @return rows of {@link Table#SCORES}, one per trajectory
     */
    public Dataset<Row> run(Dataset<Row> trajectories) {
        return trajectories
                .where(col("segment_index").equalTo(0)) // its first segment has the whole conversation
                .map((MapFunction<Row, Row>) this::score, Encoders.row(Schemas.struct(Table.SCORES)));
    }

    private Row score(Row row) {
        TrajectoryKey key = new TrajectoryKey(
                row.getAs("run_id"),
                row.getAs("iteration"),
                row.getAs("group_id"),
                row.getAs("prompt_id"),
                row.getAs("sample_index"));
        return score(row, sampledTokens(row)).toRow(key, row.getAs("data_source"));
    }

    private Score score(Row row, int sampledTokens) {
        if ("failed".equals(row.getAs("status"))) {
            return unscored("the trajectory failed: " + row.getAs("error_message"));
        }
        if (sampledTokens == 0) {
            return unscored("the trajectory has no token of the policy: " + row.getAs("stop_condition"));
        }
        Row streamed = row.getAs("score");
        return streamed == null ? Score.of(rewards.score(input(row, sampledTokens))) : Score.of(streamed);
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

    private static RewardInput input(Row row, int sampledTokens) {
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
                sampledTokens,
                row.getAs("ground_truth"),
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
