package io.bellows.run;

import static org.apache.spark.sql.functions.expr;
import static org.assertj.core.api.Assertions.assertThat;

import io.bellows.SparkTest;
import io.bellows.config.BellowsConfig;
import io.bellows.model.GoldenModel;
import io.bellows.trajectory.Table;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A run whose trajectories have several turns, in the environment that CONTRIBUTING shows. */
class EnvironmentTrainingTest extends SparkTest {

    private static final int TRAJECTORIES = 2 * 4 * 4; // iterations, prompts, samples

    @TempDir
    private static Path folder;

    private static BellowsConfig config(Path run) {
        return BellowsConfig.load(
                null,
                List.of(
                        "data.train_files=" + GoldenModel.path("/data/gsm8k/test.jsonl"),
                        "data.train_batch_size=4",
                        "data.max_prompt_length=200",
                        "data.max_response_length=60",
                        "data.filter_overlong_prompts=true",
                        "model.path=" + GoldenModel.named("qwen2").folder(),
                        "rollout.n=4",
                        "rollout.stop=[a, e, i, o, '1', '2', '5', '7']",
                        "rollout.max_num_seqs=8",
                        "rollout.agent.default_agent_loop=guess_number",
                        "algorithm.adv_estimator=grpo",
                        "actor.ppo_mini_batch_size=2",
                        "actor.optim.lr=0.001",
                        "trainer.total_training_steps=2",
                        "trainer.deterministic=true",
                        "trainer.default_local_dir=" + run));
    }

    @Test
    void trajectoriesOfSeveralTurnsAreRolledOutScoredByTheirEnvironmentAndLearnedFrom() {
        Path run = folder.resolve("run");
        RunSummary summary = new TrainLoop(spark, config(run), Progress.NONE).run();
        assertThat(summary.iterations()).isEqualTo(2);
        assertThat(summary.metrics()).allSatisfy(metrics -> {
            assertThat(metrics.get("num_turns/max")).isGreaterThan(1);
            assertThat(metrics.get("num_turns/mean"))
                    .isBetween(metrics.get("num_turns/min"), metrics.get("num_turns/max"));
            assertThat(metrics.get("num_segments/min")).isEqualTo(1);
            assertThat(metrics).doesNotContainKeys("tool_call_counts/mean", "tool_calls/success_rate");
        });

        RunDirectory directory = RunDirectory.open(spark, run.toString());
        Dataset<Row> trajectories = directory.committed(Table.TRAJECTORIES).cache();
        assertThat(trajectories.where("segment_index = 0").count()).isEqualTo(TRAJECTORIES);
        assertThat(trajectories
                        .where("env = 'guess_number' AND status <> 'failed'")
                        .count())
                .isEqualTo(trajectories.count());
        assertThat(trajectories.where("size(turns) > 1").count()).isPositive();

        // What the policy sampled is where the turns say, and nothing else is trained on.
        assertThat(trajectories
                        .withColumn("sampled", expr("aggregate(response_mask, 0, (s, m) -> s + m)"))
                        .withColumn(
                                "in_turns",
                                expr("aggregate(turns, 0, (s, t) -> s + t.response_end - t.response_start)"))
                        .where("sampled <> in_turns OR element_at(response_mask, -1) <> 1")
                        .count())
                .isZero();

        Dataset<Row> scores = directory.committed(Table.SCORES);
        assertThat(scores.count()).isEqualTo(TRAJECTORIES);
        assertThat(scores.where("status = 'scored' AND reward = rewards['nearness']")
                        .count())
                .isEqualTo(TRAJECTORIES);
        Dataset<Row> experience = directory.committed(Table.EXPERIENCE);
        assertThat(experience.count()).isEqualTo(trajectories.count());
        assertThat(experience
                        .join(
                                trajectories.select("trajectory_id", "segment_index", "response_mask"),
                                scala.jdk.javaapi.CollectionConverters.asScala(
                                                List.of("trajectory_id", "segment_index"))
                                        .toSeq(),
                                "inner")
                        .where(
                                "exists(arrays_zip(advantages, response_mask), x -> x.response_mask = 0 AND x.advantages <> 0)")
                        .count())
                .isZero();
        trajectories.unpersist();
    }
}
