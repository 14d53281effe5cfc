package io.bellows.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.bellows.SparkTest;
import io.bellows.reward.RewardOutcome.Status;
import io.bellows.reward.RewardScore;
import io.bellows.text.Message;
import io.bellows.trajectory.Outcome;
import io.bellows.trajectory.Schemas;
import io.bellows.trajectory.Score;
import io.bellows.trajectory.Table;
import io.bellows.trajectory.Tokens;
import io.bellows.trajectory.Trajectory;
import io.bellows.trajectory.TrajectoryKey;
import io.bellows.udfs.advantage.BatchNormalization;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Test;

class IterationMetricsTest extends SparkTest {

    private final List<Row> trajectories = new ArrayList<>();
    private final List<Row> scores = new ArrayList<>();

    private void add(int position, int sample, Double reward, int... mask) {
        TrajectoryKey key = TrajectoryKey.of("run", 1, position, "file:0", sample);
        trajectories.add(new Trajectory(
                        key,
                        0,
                        "test",
                        "tool_agent",
                        0,
                        0,
                        List.of(Message.of("user", "question")),
                        List.of(),
                        new Tokens(new int[] {1, 2}, new int[mask.length], mask, new float[mask.length]),
                        List.of(),
                        reward == null
                                ? new Outcome(Outcome.Status.FAILED, "has_error", "environment", "broken")
                                : Outcome.completed("stop"),
                        Map.of("num_turns", 2.0),
                        Map.of(),
                        null,
                        "4",
                        "{}",
                        null)
                .toRow());
        Status status = reward == null ? Status.UNSCORED : Status.SCORED;
        scores.add(Score.of(new RewardScore(reward, Map.of(), status, null)).toRow(key, "test"));
    }

    private Map<String, Double> metrics() {
        return IterationMetrics.sampled(
                spark.createDataset(trajectories, Encoders.row(Schemas.struct(Table.TRAJECTORIES))),
                spark.createDataset(scores, Encoders.row(Schemas.struct(Table.SCORES))));
    }

    /** OpenRLHF counted from the first sampled token to the last. */
    @Test
    void theLengthOfAResponseIsThatOfItsSampledTokensWithoutWhatToolsSaid() {
        add(0, 0, 1.0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1);
        assertThat(metrics())
                .containsEntry("response_length/mean", 9.0)
                .containsEntry("response_length/max", 9.0)
                .containsEntry("perf/response_tokens", 9.0)
                .containsEntry("perf/total_num_tokens", 17.0);
    }

    @Test
    void aTrajectoryWithoutARewardIsAbsentFromTheMeanAndItsGroupIsOneOfTheOthers() {
        add(0, 0, 1.0, 1);
        add(0, 1, 1.0, 1);
        add(0, 2, 0.0, 1);
        add(0, 3, null, 1);
        add(1, 0, null, 1);
        add(1, 1, 0.5, 1);
        Map<String, Double> metrics = metrics();
        assertThat(metrics.get("critic/score/mean")).isCloseTo(2.5 / 4, within(1e-12));
        assertThat(metrics).containsEntry("critic/singleton_groups", 1.0).containsEntry("critic/uniform_groups", 0.0);
        assertThat(metrics.get("response/aborted_ratio")).isCloseTo(1.0 / 3, within(1e-12));
        assertThat(IterationMetrics.warning(1, metrics)).isEmpty();
    }

    /** Two trajectories, the first in two segments; rollout correction rejected the last token of the second. */
    @Test
    void whatWasLearnedIsToldOfTokensThatWereSampledAndKept() {
        List<LearnedSegment> segments = LearnedSegment.of(
                tokens("a", 0, 1, 0.5, 0.25).union(tokens("a", 1, 0, 0.5, 0.5)).union(tokens("b", 0, 1, 0.75, 0.25)),
                experience("a", 0, 2.0, "array(1, 1)")
                        .union(experience("a", 1, 2.0, "array(0, 1)"))
                        .union(experience("b", 0, 4.0, "array(1, 0)"))
                        .union(experience("c", 0, null, "NULL")));

        Map<String, Double> metrics = IterationMetrics.learned(segments, BatchNormalization.WHITEN);

        assertThat(metrics)
                .containsEntry("critic/rewards/mean", (2.0 * 0.75 + 0.75) / 2) // what is on tokens, by trajectory
                .containsEntry("critic/rewards/max", 1.5)
                .containsEntry("critic/advantages/mean", (0.5 + 0.25 + 0.25 + 0.5) / 4)
                .containsEntry("critic/advantages/max", 0.5)
                .containsEntry("critic/returns/min", -0.5)
                .containsEntry("critic/unwhitened_batches", 0.0)
                .doesNotContainKey("critic/values/mean");
        assertThat(metrics.get("training/rollout_probs_diff_std")).isCloseTo(Math.sqrt(0.075 / 4), within(1e-7));
        assertThat(metrics.get("training/rollout_probs_diff_max")).isCloseTo(0.25, within(1e-7));
        assertThat(metrics.get("training/rollout_probs_diff_mean")).isCloseTo((0.25 + 0.25) / 5, within(1e-7));
        assertThat(metrics.get("training/rollout_actor_probs_pearson_corr"))
                .isCloseTo(0.0875 / Math.sqrt(0.075 * 0.175), within(1e-6));
    }

    private static Dataset<Row> tokens(String id, int segment, int first, double probability, double other) {
        return spark.range(1)
                .selectExpr(
                        "'" + id + "' AS trajectory_id",
                        segment + " AS segment_index",
                        "array(" + first + ", 1) AS response_mask",
                        "array(CAST(ln(" + probability + ") AS FLOAT), CAST(ln(" + other
                                + ") AS FLOAT)) AS rollout_log_probs");
    }

    private static Dataset<Row> experience(String id, int segment, Double reward, String corrected) {
        return spark.range(1)
                .selectExpr(
                        "'" + id + "' AS trajectory_id",
                        segment + " AS segment_index",
                        "CAST(" + reward + " AS DOUBLE) AS reward",
                        "CAST(" + corrected + " AS ARRAY<INT>) AS corrected_mask",
                        "array(0.5F, 0.25F) AS token_level_rewards",
                        "array(0.5F, 0.25F) AS advantages",
                        "array(-0.5F, 0.25F) AS returns",
                        "CAST(NULL AS ARRAY<FLOAT>) AS values",
                        "array(CAST(ln(0.5) AS FLOAT), CAST(ln(0.25) AS FLOAT)) AS old_log_probs");
    }

    @Test
    void rewardsThatAreAllTheSameAreWarnedOf() {
        add(0, 0, 0.0, 1);
        add(0, 1, 0.0, 1);
        add(0, 2, null, 1);
        assertThat(IterationMetrics.warning(7, metrics()).orElseThrow())
                .startsWith("All rewards of iteration 7 are 0.0");
    }

    @Test
    void groupsAreFilteredByTheRewardOfTheTaskAndNotByWhatShapesIt() {
        for (int sample = 0; sample < 2; sample++) {
            TrajectoryKey key = TrajectoryKey.of("run", 1, 0, "file:0", sample);
            RewardScore shaped = new RewardScore(
                    1 - 0.1 * sample, Map.of("task", 1.0, "length", -sample / 10.0), Status.SCORED, null);
            scores.add(Score.of(shaped).toRow(key, "test"));
        }
        Dataset<Row> rows = spark.createDataset(scores, Encoders.row(Schemas.struct(Table.SCORES)));
        assertThat(GroupFilter.of("acc", "task").informative(rows)).isEmpty();
        assertThat(GroupFilter.of("score", "task").informative(rows)).containsExactly("run/1/0");
    }

    @Test
    void theSamePromptMetTwiceIsTwoGroups() {
        TrajectoryKey first = TrajectoryKey.of("run", 1, 0, "file:7", 0);
        TrajectoryKey again = TrajectoryKey.of("run", 1, 1, "file:7", 0);
        TrajectoryKey later = TrajectoryKey.of("run", 2, 0, "file:7", 0);
        assertThat(List.of(first.groupId(), again.groupId(), later.groupId())).doesNotHaveDuplicates();
        assertThat(List.of(first.trajectoryId(), again.trajectoryId(), later.trajectoryId()))
                .doesNotHaveDuplicates();
        assertThat(TrajectoryKey.of("run", 1, 0, "file:7", 1).groupId()).isEqualTo(first.groupId());
    }
}
