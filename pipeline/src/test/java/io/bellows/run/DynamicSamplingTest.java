package io.bellows.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.bellows.SparkTest;
import io.bellows.config.BellowsConfig;
import io.bellows.trajectory.Table;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Dynamic sampling on a tiny random Qwen2: which groups are learned from, what stays of the others, and resuming between rounds. */
class DynamicSamplingTest extends SparkTest {

    private static final int GROUPS = 4;
    private static final int SAMPLES = 3;

    @TempDir
    private static Path unbroken;

    @TempDir
    private Path folder;

    private static BellowsConfig config(Path run, String... more) {
        List<String> own = List.of(
                "data.train_batch_size=" + GROUPS,
                "algorithm.filter_groups.enable=true",
                "actor.ppo_mini_batch_size=2");
        return TinyRun.config(run, TinyRun.with(own, more));
    }

    @BeforeAll
    static void trainUnbroken() {
        new TrainLoop(spark, config(unbroken), Progress.NONE).run();
    }

    @Test
    void theUpdateLearnsFromGroupsThatDifferAndTheOthersStayInTheTables() {
        RunDirectory run = RunDirectory.open(spark, unbroken.toString());
        for (int iteration = 1; iteration <= 2; iteration++) {
            int rounds = run.manifests(iteration, Table.TRAJECTORIES).size();
            assertThat(rounds).isGreaterThan(1);
            Dataset<Row> scores = run.committed(iteration, Table.SCORES);
            assertThat(scores.select("trajectory_id").distinct().count()).isEqualTo(scores.count());
            assertThat(run.committed(iteration, Table.TRAJECTORIES).count()).isEqualTo(scores.count());
            Dataset<Row> differing = scores.groupBy("group_id")
                    .agg(Map.of("reward", "max"))
                    .join(scores.groupBy("group_id").agg(Map.of("reward", "min")), "group_id")
                    .where("`max(reward)` > `min(reward)`");
            Dataset<Row> learned = run.committed(iteration, Table.EXPERIENCE)
                    .select("group_id")
                    .distinct();
            assertThat(learned.count()).isEqualTo(GROUPS);
            assertThat(learned.join(differing, "group_id").count()).isEqualTo(GROUPS);
            Map<String, Double> metrics =
                    MetricRows.byIteration(run.committed(Table.METRICS)).get(iteration - 1);
            assertThat(metrics).containsEntry("training/num_gen_batches", (double) rounds);
            assertThat(metrics.get("training/filter_groups/evicted_samples"))
                    .isEqualTo((double) scores.count() - SAMPLES * differing.count());
            assertThat(metrics.get("training/filter_groups/surplus_groups"))
                    .isEqualTo((double) differing.count() - GROUPS);
        }
        assertThat(run.verify()).isEmpty();
    }

    @Test
    void aRunStoppedBetweenRoundsGoesOnWithTheSameOnes() throws Exception {
        int[] rollouts = {0};
        Progress stop = new StopAtStage("gen", stage -> ++rollouts[0] == 2);
        BellowsConfig first = config(folder, "trainer.total_training_steps=1");
        assertThatThrownBy(() -> new TrainLoop(spark, first, stop).run()).isInstanceOf(StopAtStage.Stopped.class);
        new TrainLoop(spark, first, Progress.NONE).run();
        String weights = "checkpoints/000001/optimizer/actor.safetensors";
        assertThat(Files.readAllBytes(folder.resolve(weights)))
                .isEqualTo(Files.readAllBytes(unbroken.resolve(weights)));
    }

    @Test
    void surplusGroupsAreCarriedIntoTheNextIteration(@TempDir Path replayed) {
        new TrainLoop(
                        spark,
                        config(
                                folder,
                                "algorithm.filter_groups.carry_over=true",
                                "data.train_batch_size=2",
                                "data.gen_batch_size=12",
                                "algorithm.rollout_correction.rollout_is=token"),
                        Progress.NONE)
                .run();
        RunDirectory run = RunDirectory.open(spark, folder.toString());
        List<String> carried =
                run.manifest(1, Table.METRICS).orElseThrow().state().carriedGroups();
        assertThat(carried).hasSize(1); // one less than a batch: the next iteration samples, too
        List<String> learned = run.committed(2, Table.EXPERIENCE).select("group_id").distinct().collectAsList().stream()
                .map(row -> row.getString(0))
                .toList();
        assertThat(learned).hasSize(2).containsAll(carried);
        assertThat(run.committed(1, Table.EXPERIENCE)
                        .where("group_id IN ('" + String.join("', '", carried) + "')")
                        .isEmpty())
                .isTrue();
        assertThat(run.committed(Table.TRAJECTORIES)
                        .where("group_id = '" + carried.get(0) + "'")
                        .select("weights_version")
                        .head()
                        .getLong(0))
                .isZero();
        assertThat(run.committed(2, Table.EXPERIENCE)
                        .where("rollout_is_weights IS NULL")
                        .isEmpty())
                .isTrue();
        theRewardsOfCarriedGroupsAreInTheMetrics(run);
        assertThat(run.verify()).isEmpty();
        anIterationWithCarriedGroupsIsReplayedToTheBit(replayed);
    }

    private void anIterationWithCarriedGroupsIsReplayedToTheBit(Path target) {
        ReplayReport report =
                new Replay(spark, folder.toString(), 2, List.of(), target.toString(), Progress.NONE).run();
        assertThat(report.isIdentical()).as(report.toString()).isTrue();
        assertThat(report.advantages().rows()).isEqualTo(2L * SAMPLES);
    }

    private static void theRewardsOfCarriedGroupsAreInTheMetrics(RunDirectory run) {
        Row learned =
                run.committed(2, Table.EXPERIENCE).selectExpr("avg(reward)").head();
        assertThat(MetricRows.byIteration(run.committed(Table.METRICS)).get(1).get("critic/rewards/mean"))
                .isCloseTo(learned.getDouble(0), within(1e-9));
    }

    /** OpenRLHF dropped what it had accepted when the prompts ran out. */
    @Test
    void withFewerGroupsThanItWantedTheUpdateLearnsFromThoseThereAre() {
        new TrainLoop(
                        spark,
                        config(
                                folder,
                                "trainer.total_training_steps=1",
                                "algorithm.filter_groups.max_num_gen_batches=2"),
                        Progress.NONE)
                .run();
        RunDirectory run = RunDirectory.open(spark, folder.toString());
        long differing = run.committed(1, Table.SCORES)
                .groupBy("group_id")
                .agg(Map.of("reward", "stddev"))
                .where("`stddev(reward)` > 0")
                .count();
        assertThat(differing).isBetween(1L, GROUPS - 1L);
        assertThat(run.committed(1, Table.EXPERIENCE)
                        .select("group_id")
                        .distinct()
                        .count())
                .isEqualTo(differing);
    }

    @Test
    void aRunWithoutAnyGroupThatDiffersStopsWithinTheBound() {
        BellowsConfig config = config(
                folder,
                "algorithm.filter_groups.max_num_gen_batches=2",
                "reward.functions=[{name: format_match, pattern: '.*', coverage: find}]");
        assertThatThrownBy(() -> new TrainLoop(spark, config, Progress.NONE).run())
                .isInstanceOf(InvalidRunException.class)
                .hasMessageContaining(
                        "Cannot update in iteration 1: in each of its 8 groups all samples have the same acc")
                .hasMessageContaining("max_num_gen_batches");
    }
}
