package io.bellows.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.bellows.SparkTest;
import io.bellows.config.BellowsConfig;
import io.bellows.model.GoldenModel;
import io.bellows.trajectory.Table;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rollout correction from the configuration to the metrics of an iteration. */
class RolloutCorrectionRunTest extends SparkTest {

    @TempDir
    private Path folder;

    private RunDirectory run(String... more) {
        List<String> overrides = new ArrayList<>(List.of(
                "data.train_files=" + GoldenModel.path("/data/gsm8k/test.jsonl"),
                "data.train_batch_size=2",
                "data.max_prompt_length=200",
                "data.max_response_length=6",
                "data.filter_overlong_prompts=true",
                "model.path=" + GoldenModel.named("qwen2").folder(),
                "rollout.n=2",
                "rollout.max_num_seqs=8",
                "actor.ppo_mini_batch_size=2",
                "reward.functions=[{name: format_match, pattern: '([aeiou].*){4}'}]",
                "trainer.total_training_steps=1",
                "trainer.default_local_dir=" + folder));
        overrides.addAll(List.of(more));
        new TrainLoop(spark, BellowsConfig.load(null, overrides), Progress.NONE).run();
        return RunDirectory.open(spark, folder.toString());
    }

    private static Map<String, Double> metrics(RunDirectory run) {
        return MetricRows.byIteration(run.committed(Table.METRICS)).get(0);
    }

    @Test
    void weightsAndMaskAreInTheExperienceAndTheirMetricsInTheIteration() {
        RunDirectory run = run(
                "algorithm.rollout_correction.rollout_is=token",
                "algorithm.rollout_correction.rollout_is_batch_normalize=true",
                "algorithm.rollout_correction.rollout_rs=token_k2",
                "algorithm.rollout_correction.rollout_rs_threshold=1");

        // Engine and scoring agree on one machine, so nothing is rejected and every weight is 1.
        Dataset<Row> experience = run.committed(Table.EXPERIENCE);
        assertThat(experience
                        .where("forall(rollout_is_weights, w -> abs(w - 1) < 0.001)")
                        .count())
                .isEqualTo(4);
        assertThat(experience.where("array_contains(corrected_mask, 0)").count())
                .isZero();
        assertThat(metrics(run).get("rollout_corr/rollout_is_mean")).isBetween(0.999, 1.001);
        assertThat(metrics(run).get("rollout_corr/rollout_rs_masked_fraction")).isZero();
        assertThat(metrics(run).get("rollout_corr/kl")).isBetween(-0.001, 0.001);
    }

    @Test
    void inBypassModeTheUpdateCorrects() {
        RunDirectory run = run(
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
