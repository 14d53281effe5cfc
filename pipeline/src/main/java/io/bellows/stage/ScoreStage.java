package io.bellows.stage;

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
import org.apache.spark.api.java.function.MapFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;

/**
 * Trajectories in, scores out. The one place where rewards are given; a failed trajectory stays unscored.
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
        return trajectories.map((MapFunction<Row, Row>) this::score, Encoders.row(Schemas.struct(Table.SCORES)));
    }

    private Row score(Row row) {
        TrajectoryKey key = new TrajectoryKey(
                row.getAs("run_id"),
                row.getAs("iteration"),
                row.getAs("group_id"),
                row.getAs("prompt_id"),
                row.getAs("sample_index"));
        RewardScore score = "failed".equals(row.getAs("status")) ? unscored(row) : rewards.score(input(row));
        return new Score(score, Map.of()).toRow(key, row.getAs("data_source"));
    }

    private static RewardScore unscored(Row row) {
        return new RewardScore(
                null, Map.of(), RewardOutcome.Status.UNSCORED, "the trajectory failed: " + row.getAs("error_message"));
    }

    private static RewardInput input(Row row) {
        List<Message> completion = PromptSchema.messages(row, "completion");
        String response = completion.isEmpty()
                ? null
                : completion.get(completion.size() - 1).content();
        int sampled = 0;
        for (int bit : TrainingRows.ints(row, "response_mask")) {
            sampled += bit;
        }
        return new RewardInput(
                row.getAs("data_source"),
                PromptSchema.messages(row, "prompt"),
                completion,
                response,
                sampled,
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
