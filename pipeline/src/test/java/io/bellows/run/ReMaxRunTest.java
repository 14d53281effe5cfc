package io.bellows.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.bellows.SparkTest;
import io.bellows.trajectory.Table;
import io.bellows.trajectory.TrajectoryKey;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** ReMax compares the samples of a prompt with a greedy answer of the same iteration. */
class ReMaxRunTest extends SparkTest {

    private static final int PROMPTS = 4;
    private static final int SAMPLES = 3;

    /** About every second response has one. */
    private static final String EVEN_NUMBER_OF_VOWELS =
            "name: format_match, pattern: '([^aeiou]*[aeiou][^aeiou]*[aeiou])*[^aeiou]*', coverage: full";

    @TempDir
    private Path folder;

    @Test
    void theGreedyAnswerIsSampledBesideTheOthersAndIsWhatTheyAreComparedWith() {
        List<String> own = List.of(
                "algorithm.adv_estimator=remax",
                "reward.functions=[{" + EVEN_NUMBER_OF_VOWELS + "}]",
                "data.train_batch_size=" + PROMPTS,
                "rollout.n=" + SAMPLES,
                "actor.ppo_mini_batch_size=" + PROMPTS,
                "trainer.total_training_steps=1");
        new TrainLoop(spark, TinyRun.config(folder, own), Progress.NONE).run();
        RunDirectory run = RunDirectory.open(spark, folder.toString());
        Dataset<Row> scores = run.committed(Table.SCORES);
        Dataset<Row> greedy = scores.where("sample_index = " + TrajectoryKey.GREEDY_BASELINE)
                .selectExpr("group_id", "reward AS greedy_reward");
        Dataset<Row> experience = run.committed(Table.EXPERIENCE);
        Dataset<Row> tokens = experience
                .join(greedy, "group_id")
                .join(run.committed(Table.TRAJECTORIES).select("trajectory_id", "response_mask"), "trajectory_id")
                .selectExpr("reward - greedy_reward AS expected", "inline(arrays_zip(response_mask, advantages))")
                .where("response_mask = 1");

        assertThat(run.committed(Table.TRAJECTORIES).count()).isEqualTo(PROMPTS * (SAMPLES + 1L));
        assertThat(greedy.count()).isEqualTo(PROMPTS);
        assertThat(experience.count()).isEqualTo(PROMPTS * SAMPLES);
        assertThat(tokens.count()).isPositive();
        assertThat(tokens.where("abs(advantages - expected) > 1e-6").count()).isZero();
        assertThat(tokens.where("advantages <> 0").count())
                .as("tokens of samples that are better or worse than the greedy answer")
                .isPositive();
    }
}
