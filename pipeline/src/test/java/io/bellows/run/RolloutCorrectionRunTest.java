package io.bellows.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.bellows.SparkTest;
import io.bellows.trajectory.Table;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rollout correction from the configuration to the metrics of an iteration. */
class RolloutCorrectionRunTest extends SparkTest {

    @TempDir
    private static Path corrected;

    @TempDir
    private Path folder;

    @BeforeAll
    static void trainWithWeightsAndRejection() {
        run(
                corrected,
                "rollout.temperature=0.7",
                "algorithm.adv_estimator=tir_optimal_token_baseline", // reads the weights
                "algorithm.rollout_correction.rollout_is=token",
                "algorithm.rollout_correction.rollout_is_batch_normalize=true",
                "algorithm.rollout_correction.rollout_rs=token_k2",
                "algorithm.rollout_correction.rollout_rs_threshold=1");
    }

    private static RunDirectory run(Path folder, String... more) {
        List<String> own = List.of(
                "data.train_batch_size=2",
                "data.max_response_length=6",
                "rollout.n=2",
                "actor.ppo_mini_batch_size=2",
                "trainer.total_training_steps=1");
        new TrainLoop(spark, TinyRun.config(folder, TinyRun.with(own, more)), Progress.NONE).run();
        return RunDirectory.open(spark, folder.toString());
    }

    private static Map<String, Double> metrics(RunDirectory run) {
        return MetricRows.byIteration(run.committed(Table.METRICS)).get(0);
    }

    @Test
    void weightsAndMaskAreInTheExperienceAndTheirMetricsInTheIteration() {
        RunDirectory run = RunDirectory.open(spark, corrected.toString());

        // Engine and scoring agree on one machine, so nothing is rejected and every weight is 1.
        Dataset<Row> experience = run.committed(Table.EXPERIENCE);
        assertThat(experience
                        .where("forall(rollout_is_weights, w -> abs(w - 1) < 0.001)")
                        .count())
                .isEqualTo(4);
        assertThat(experience
                        .where("size(squared_probabilities) = size(old_log_probs)"
                                + " AND forall(squared_probabilities, s -> s > 0 AND s <= 1)")
                        .count())
                .isEqualTo(4);
        assertThat(experience.where("array_contains(corrected_mask, 0)").count())
                .isZero();
        assertThat(metrics(run).get("rollout_corr/rollout_is_mean")).isBetween(0.999, 1.001);
        assertThat(metrics(run).get("rollout_corr/rollout_rs_masked_fraction")).isZero();
        assertThat(metrics(run).get("rollout_corr/kl")).isBetween(-0.001, 0.001);
    }

    @Test
    void theFirstStepIsOnPolicy() {
        Map<String, Double> first = metrics(RunDirectory.open(spark, corrected.toString()));

        assertThat(first.get("actor/mini_batches")).isEqualTo(1);
        assertThat(first.get("actor/ppo_kl")).isBetween(-1e-4, 1e-4);
        assertThat(first.get("actor/pg_clipfrac")).isZero();
        assertThat(first.get("training/rollout_probs_diff_max")).isBetween(0.0, 1e-4);
        assertThat(first.get("training/rollout_probs_diff_mean"))
                .isLessThanOrEqualTo(first.get("training/rollout_probs_diff_max"));
        assertThat(first).containsKey("training/rollout_probs_diff_std");
        assertThat(first.get("training/rollout_actor_probs_pearson_corr")).isBetween(0.999, 1.000001);
    }

    @Test
    void inBypassModeTheUpdateCorrects() {
        RunDirectory run = run(
                folder,
                "algorithm.rollout_correction.bypass_mode=true",
                "algorithm.rollout_correction.loss_type=reinforce",
                "algorithm.rollout_correction.rollout_is=sequence");

        Dataset<Row> recorded = run.committed(Table.TRAJECTORIES).select("trajectory_id", "rollout_log_probs");
        assertThat(run.committed(Table.EXPERIENCE)
                        .join(recorded, "trajectory_id")
                        .where("old_log_probs = rollout_log_probs AND rollout_is_weights IS NULL")
                        .count())
                .isEqualTo(4);
        assertThat(metrics(run).get("rollout_corr/rollout_is_mean")).isBetween(0.99, 1.01);
        assertThat(metrics(run)).containsKeys("actor/pg_loss", "actor/grad_norm");
    }
}
