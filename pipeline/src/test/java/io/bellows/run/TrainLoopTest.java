package io.bellows.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.bellows.SparkTest;
import io.bellows.config.BellowsConfig;
import io.bellows.model.GoldenModel;
import io.bellows.trajectory.Table;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whole runs on a tiny random Qwen2: what is committed, what a resumed run repeats, and that it repeats it to the bit. */
class TrainLoopTest extends SparkTest {

    private static final int PROMPTS = 8;
    private static final int SAMPLES = 3;
    private static final int ITERATIONS = 2;

    @TempDir
    private static Path unbroken;

    @TempDir
    private Path folder;

    private static BellowsConfig config(Path run, String... more) {
        List<String> own = List.of(
                "data.train_batch_size=" + PROMPTS,
                "actor.ppo_mini_batch_size=4",
                "actor.use_kl_loss=true",
                "critic.enable=true",
                "critic.optim.lr=0.001");
        return TinyRun.config(run, TinyRun.with(own, more));
    }

    @BeforeAll
    static void trainUnbroken() {
        new TrainLoop(spark, config(unbroken), Progress.NONE).run();
    }

    /** Weights in fp32 and moments, of the policy and of the critic. */
    private static List<byte[]> finalWeights(Path run) {
        return List.of(
                bytes(run.resolve("checkpoints/000002/optimizer/actor.safetensors")),
                bytes(run.resolve("checkpoints/000002/optimizer/critic.safetensors")));
    }

    private static void assertSameWeights(List<byte[]> weights, List<byte[]> expected) {
        assertThat(weights.get(0)).as("policy").isEqualTo(expected.get(0));
        assertThat(weights.get(1)).as("critic").isEqualTo(expected.get(1));
    }

    private static byte[] bytes(Path file) {
        try {
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void everyTrajectoryOfEveryIterationIsCommitted() {
        RunDirectory run = RunDirectory.open(spark, unbroken.toString());
        assertThat(run.latestCommittedIteration()).hasValue(ITERATIONS);
        for (Table table : List.of(Table.TRAJECTORIES, Table.SCORES, Table.EXPERIENCE)) {
            assertThat(run.committed(table).count()).isEqualTo((long) ITERATIONS * PROMPTS * SAMPLES);
        }
        Dataset<Row> trajectories = run.committed(Table.TRAJECTORIES);
        assertThat(trajectories.select("trajectory_id").distinct().count()).isEqualTo(trajectories.count());
        assertThat(trajectories.where("status = 'failed'").count()).isZero();
        assertThat(trajectories
                        .where("size(response_ids) <> size(rollout_log_probs)")
                        .count())
                .isZero();
        assertThat(run.verify()).isEmpty();
    }

    @Test
    void theOldLogProbsAreThoseOfTheRollout() {
        RunDirectory run = RunDirectory.open(spark, unbroken.toString());
        Dataset<Row> both = run.committed(Table.TRAJECTORIES)
                .join(run.committed(Table.EXPERIENCE).select("trajectory_id", "old_log_probs"), "trajectory_id");
        double worst = both.selectExpr(
                        "array_max(zip_with(rollout_log_probs, old_log_probs, (a, b) -> abs(a - b))) AS difference")
                .agg(org.apache.spark.sql.functions.max("difference").cast("double"))
                .head()
                .getDouble(0);
        assertThat(worst).isLessThan(1e-4);
    }

    @Test
    void oneQueryComputesTheAdvantagesOfTheRunFromTrajectoriesAndScores() {
        RunDirectory.open(spark, unbroken.toString()).createViews();
        Dataset<Row> computed = spark.sql("""
                SELECT trajectory_id, transform(response_mask, m -> IF(m = 1, grpo_advantage(scores)[place - 1], 0)) AS advantages
                FROM (SELECT trajectory_id, response_mask,
                             collect_list(coalesce(reward, double('NaN'))) OVER (PARTITION BY group_id ORDER BY sample_index
                                 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS scores,
                             row_number() OVER (PARTITION BY group_id ORDER BY sample_index) AS place
                      FROM trajectories JOIN (SELECT trajectory_id, reward FROM scores) USING (trajectory_id))
                """); // the query of README.md

        Dataset<Row> both = computed.join(
                spark.table("experience").selectExpr("trajectory_id", "advantages AS committed"), "trajectory_id");
        assertThat(both.where("exists(committed, a -> a <> 0)").count()).isPositive();
        assertThat(both.where("CAST(advantages AS ARRAY<FLOAT>) = committed").count())
                .isEqualTo((long) ITERATIONS * PROMPTS * SAMPLES);
    }

    @Test
    void theAdaptiveWeightOfTheDivergenceInTheRewardGoesOnFromIterationToIteration() {
        BellowsConfig config = config(
                folder,
                "algorithm.adv_estimator=reinforce_plus_plus",
                "algorithm.use_kl_in_reward=true",
                "algorithm.kl_penalty=k3",
                "algorithm.kl_ctrl.type=adaptive",
                "algorithm.kl_ctrl.kl_coef=0.1",
                "algorithm.kl_ctrl.horizon=120");
        List<Map<String, Double>> metrics =
                new TrainLoop(spark, config, Progress.NONE).run().metrics();

        // The policy of iteration 1 is the reference: no divergence, so the weight falls by a fifth of 24 samples in
        // 120.
        assertThat(metrics.get(0).get("actor/reward_kl_penalty")).isCloseTo(0, within(1e-6));
        assertThat(metrics.get(0).get("actor/reward_kl_penalty_coeff")).isEqualTo(0.1);
        assertThat(metrics.get(1).get("actor/reward_kl_penalty")).isPositive();
        assertThat(metrics.get(1).get("actor/reward_kl_penalty_coeff"))
                .isCloseTo(0.1 * (1 - 0.2 * 24 / 120), within(1e-12));
        assertThat(metrics.get(1).get("critic/rewards/mean"))
                .isLessThan(metrics.get(1).get("critic/score/mean"));
        assertThat(metrics.get(1).get("critic/advantages/mean")).isCloseTo(0, within(1e-6));
        assertThat(RunDirectory.open(spark, folder.toString())
                        .latestState()
                        .orElseThrow()
                        .klCoef())
                .isNotEqualTo(0.1);
    }

    @Test
    void theFirstUpdateStartsOnThePolicyThatSampled() {
        Map<String, Double> first = MetricRows.byIteration(
                        RunDirectory.open(spark, unbroken.toString()).committed(Table.METRICS))
                .get(0);
        assertThat(first).containsKeys("actor/pg_loss", "actor/entropy", "actor/kl_loss", "actor/grad_norm");
        assertThat(first.get("actor/mini_batches")).isEqualTo(2);
        assertThat(first.get("critic/advantages/mean")).isNotNaN();
    }

    @Test
    void aCheckpointKeepsTheFilesOfTheModel() {
        Path actor = unbroken.resolve("checkpoints/000002/actor");
        Path source = GoldenModel.named("qwen2").folder();
        for (String file :
                List.of("config.json", "tokenizer.json", "tokenizer_config.json", "generation_config.json")) {
            assertThat(actor.resolve(file)).hasSameBinaryContentAs(source.resolve(file));
        }
        assertThat(bytes(actor.resolve("model.safetensors")))
                .hasSameSizeAs(bytes(source.resolve("model.safetensors")))
                .isNotEqualTo(bytes(source.resolve("model.safetensors")));
    }

    @Test
    void aRunStartedAgainAtItsEndDoesNothing() {
        List<byte[]> before = finalWeights(unbroken);
        RunSummary summary = new TrainLoop(spark, config(unbroken), Progress.NONE).run();
        assertThat(summary.iterations()).isEqualTo(ITERATIONS);
        assertThat(summary.metrics()).hasSize(ITERATIONS);
        assertSameWeights(finalWeights(unbroken), before);
    }

    @Test
    void aRunStoppedInEveryStageEndsInTheSameWeightsBitForBit() {
        for (String stage :
                List.of("gen", "reward", "old_log_prob", "update_critic", "update_actor", "save_checkpoint")) {
            assertThatThrownBy(() -> new TrainLoop(spark, config(folder), new StopAtStage(stage, i -> i == 2)).run())
                    .as(stage)
                    .isInstanceOf(StopAtStage.Stopped.class);
        }
        new TrainLoop(spark, config(folder), Progress.NONE).run();
        assertSameWeights(finalWeights(folder), finalWeights(unbroken));
    }

    @Test
    void theCriticLearnsAndItsValuesAreRecorded() {
        RunDirectory run = RunDirectory.open(spark, unbroken.toString());
        Dataset<Row> experience = run.committed(Table.EXPERIENCE);
        assertThat(experience.where("size(values) <> size(old_log_probs)").count())
                .isZero();
        assertThat(experience
                        .where("iteration = 1 AND exists(values, v -> v <> 0)")
                        .count())
                .as("a fresh critic says 0")
                .isZero();
        assertThat(experience
                        .where("iteration = 2 AND forall(values, v -> v = 0)")
                        .count())
                .as("an updated one does not")
                .isZero();
        assertThat(MetricRows.byIteration(run.committed(Table.METRICS)).get(1))
                .containsKeys(
                        "critic/vf_loss",
                        "critic/vf_clipfrac",
                        "critic/vpred_mean",
                        "critic/vf_explained_var",
                        "critic/grad_norm",
                        "critic/lr")
                .containsEntry("critic/mini_batches", 2.0);
        assertThat(unbroken.resolve("checkpoints/000002/critic/config.json")).exists();
    }

    @Test
    void inTheWarmUpOnlyTheCriticLearnsAndEveryCheckpointIsWhole() {
        Path whole = folder.resolve("whole");
        Path broken = folder.resolve("broken");
        new TrainLoop(spark, config(whole, "trainer.critic_warmup=1"), Progress.NONE).run();
        BellowsConfig config = config(broken, "trainer.critic_warmup=1");
        assertThatThrownBy(() -> new TrainLoop(spark, config, new StopAtStage("gen", i -> i == 2)).run())
                .isInstanceOf(StopAtStage.Stopped.class);
        new TrainLoop(spark, config, Progress.NONE).run();

        assertThat(broken.resolve("checkpoints/000001/actor/model.safetensors"))
                .hasSameBinaryContentAs(GoldenModel.named("qwen2").folder().resolve("model.safetensors"));
        assertThat(bytes(broken.resolve("checkpoints/000002/actor/model.safetensors")))
                .isNotEqualTo(bytes(broken.resolve("checkpoints/000001/actor/model.safetensors")));
        assertSameWeights(finalWeights(broken), finalWeights(whole));
        List<Map<String, Double>> metrics = MetricRows.byIteration(
                RunDirectory.open(spark, broken.toString()).committed(Table.METRICS));
        assertThat(metrics.get(0)).containsKey("critic/vf_loss").doesNotContainKey("actor/pg_loss");
        assertThat(metrics.get(1)).containsKeys("critic/vf_loss", "actor/pg_loss");
    }

    @Test
    void aRunIsNotContinuedWithAnotherLearningRate() {
        assertThatThrownBy(() -> new TrainLoop(spark, config(unbroken, "actor.optim.lr=0.1"), Progress.NONE).run())
                .isInstanceOf(InvalidRunException.class)
                .hasMessageContaining("actor.optim.lr");
    }

    @Test
    void anIterationWithoutAnyRewardStopsTheRunAndSaysWhy() throws IOException {
        Path prompts = folder.resolve("prompts.jsonl");
        Files.writeString(prompts, "{\"prompt\": \"no answer to compare with\"}\n".repeat(PROMPTS));
        BellowsConfig config = config(
                folder.resolve("run"),
                "data.train_files=" + prompts,
                "reward.functions=[{name: number_match}]",
                "reward.max_error_rate=1.0");
        for (int start = 0; start < 2; start++) {
            assertThatThrownBy(() -> new TrainLoop(spark, config, Progress.NONE).run())
                    .isInstanceOf(InvalidRunException.class)
                    .hasMessageContaining("Cannot update in iteration 1: none of its 24 trajectories has a reward")
                    .hasMessageContaining("number_match: ");
        }
    }
}
