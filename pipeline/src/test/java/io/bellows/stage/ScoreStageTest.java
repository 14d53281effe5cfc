package io.bellows.stage;

import static org.assertj.core.api.Assertions.assertThat;

import io.bellows.SparkTest;
import io.bellows.config.RewardConfig;
import io.bellows.reward.GroupRewardFunction;
import io.bellows.reward.RewardFunction;
import io.bellows.reward.RewardInput;
import io.bellows.reward.RewardOutcome;
import io.bellows.reward.RewardOutcome.Status;
import io.bellows.reward.RewardRegistry;
import io.bellows.reward.RewardScore;
import io.bellows.reward.WeightedRewards;
import io.bellows.text.Message;
import io.bellows.trajectory.Outcome;
import io.bellows.trajectory.Schemas;
import io.bellows.trajectory.Score;
import io.bellows.trajectory.Table;
import io.bellows.trajectory.Tokens;
import io.bellows.trajectory.Trajectory;
import io.bellows.trajectory.TrajectoryKey;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Test;

class ScoreStageTest extends SparkTest {

    /** The share of the group's responses that are the same. */
    private static final GroupRewardFunction AGREEMENT = group -> {
        List<String> responses = group.stream().map(RewardInput::response).toList();
        return group.stream()
                .map(input -> RewardOutcome.of(
                        responses.stream().filter(input.response()::equals).count() / (double) group.size()))
                .toList();
    };

    private final List<Row> trajectories = new ArrayList<>();

    private void add(int position, int sample, String response, Outcome outcome, Score streamed) {
        trajectories.add(new Trajectory(
                        TrajectoryKey.of("run", 1, position, "file:" + position, sample),
                        0,
                        "test",
                        "single_turn",
                        0,
                        0,
                        List.of(Message.of("user", "question")),
                        List.of(Message.of("assistant", response)),
                        Tokens.sampled(new int[] {1}, new int[] {2}, new float[] {-1}),
                        List.of(),
                        outcome,
                        Map.of(),
                        Map.of(),
                        null,
                        "4",
                        "{}",
                        streamed)
                .toRow());
    }

    private void add(int position, int sample, String response) {
        add(position, sample, response, Outcome.completed("stop"), null);
    }

    private Map<String, Row> scores(WeightedRewards rewards) {
        Dataset<Row> rows = spark.createDataset(trajectories, Encoders.row(Schemas.struct(Table.TRAJECTORIES)))
                .repartition(3);
        Map<String, Row> byTrajectory = new HashMap<>();
        for (Row row : new ScoreStage(rewards).run(rows).collectAsList()) {
            assertThat(byTrajectory.put(row.getAs("trajectory_id"), row)).isNull();
        }
        assertThat(byTrajectory).hasSize(trajectories.size());
        return byTrajectory;
    }

    private static WeightedRewards rewards(RewardFunction function) {
        return new WeightedRewards(List.of(new WeightedRewards.Term("reward", 1, function)));
    }

    private static Double reward(Map<String, Row> scores, int position, int sample) {
        return scores.get("run/1/" + position + "/" + sample).getAs("reward");
    }

    @Test
    void aGroupRewardSeesTheSamplesOfItsPromptInOrderAndNoOthers() {
        for (int sample = 0; sample < 4; sample++) {
            add(0, sample, sample == 2 ? "b" : "a");
            add(1, sample, "a");
        }
        Map<String, Row> scores = scores(rewards(AGREEMENT));
        assertThat(reward(scores, 0, 0)).isEqualTo(0.75);
        assertThat(reward(scores, 0, 2)).isEqualTo(0.25);
        assertThat(reward(scores, 1, 3)).isEqualTo(1);
        GroupRewardFunction places = group -> {
            List<RewardOutcome> outcomes = new ArrayList<>();
            group.forEach(input -> outcomes.add(RewardOutcome.of(outcomes.size())));
            return outcomes;
        };
        assertThat(reward(scores(rewards(places)), 1, 3)).isEqualTo(3);
    }

    @Test
    void whatFailedWasScoredOrIsTheGreedyBaselineIsNotInTheGroup() {
        add(0, 0, "a");
        add(0, 1, "b");
        add(0, 2, "a", new Outcome(Outcome.Status.FAILED, "has_error", "environment", "broken"), null);
        RewardScore streamed = new RewardScore(7.0, Map.of("reward", 7.0), Status.SCORED, null);
        add(0, 3, "a", Outcome.completed("stop"), Score.of(streamed));
        add(0, TrajectoryKey.GREEDY_BASELINE, "a");
        Map<String, Row> scores = scores(rewards(AGREEMENT));
        assertThat(reward(scores, 0, 0)).isEqualTo(0.5);
        assertThat(reward(scores, 0, 1)).isEqualTo(0.5);
        assertThat(reward(scores, 0, 2)).isNull();
        assertThat(reward(scores, 0, 3)).isEqualTo(7);
        assertThat(reward(scores, 0, TrajectoryKey.GREEDY_BASELINE)).isEqualTo(1);
    }

    /** In verifiers a group function that throws gives a whole group 0, one that is short crashes the batch. */
    @Test
    void aGroupRewardThatFailsIsAnErrorOfItsGroupAlone() {
        add(0, 0, "a");
        add(0, 1, "bad");
        add(1, 0, "a");
        GroupRewardFunction fragile = group -> {
            if (group.stream().anyMatch(input -> input.response().equals("bad"))) {
                throw new IllegalStateException("no connection");
            }
            return group.stream().map(input -> RewardOutcome.of(1)).toList();
        };
        Map<String, Row> scores = scores(rewards(fragile));
        assertThat(reward(scores, 0, 0)).isNull();
        assertThat(scores.get("run/1/0/0").<String>getAs("status")).isEqualTo("failed");
        assertThat(scores.get("run/1/0/1").<String>getAs("message")).contains("no connection");
        assertThat(reward(scores, 1, 0)).isEqualTo(1);
        GroupRewardFunction shortAnswer = group -> List.of(RewardOutcome.of(1));
        scores = scores(rewards(shortAnswer));
        assertThat(scores.get("run/1/0/0").<String>getAs("message")).contains("give one outcome for each");
        assertThat(reward(scores, 1, 0)).isEqualTo(1);
    }

    @Test
    void theMajorityIsRightWhateverItsAnswer() {
        List<String> responses =
                List.of("so \\boxed{\\frac12}", "#### 0.5", "\\boxed{2}", "\\boxed{1/2}", "\\boxed{2}", "\\boxed{");
        for (int sample = 0; sample < responses.size(); sample++) {
            add(0, sample, responses.get(sample));
        }
        Map<String, Row> scores = scores(
                RewardRegistry.standard().create(List.of(new RewardConfig.Function("majority_match", 1, Map.of()))));
        assertThat(responses.stream().map(response -> reward(scores, 0, responses.indexOf(response))))
                .containsExactly(1.0, 1.0, 0.0, 1.0, 0.0, 0.0);
    }
}
