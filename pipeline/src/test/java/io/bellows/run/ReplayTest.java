package io.bellows.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bellows.SparkTest;
import io.bellows.config.BellowsConfig;
import io.bellows.config.InvalidConfigException;
import io.bellows.trajectory.Table;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A stored iteration computed again: the same to the bit without changes, and different where something was changed. */
class ReplayTest extends SparkTest {

    /** An even number of vowels: about every second response has one, so that samples of a group differ. */
    private static final String EVEN_VOWELS =
            "name: format_match, pattern: '([^aeiou]*[aeiou][^aeiou]*[aeiou])*[^aeiou]*', coverage: full";

    @TempDir
    private static Path stored;

    @TempDir
    private Path folder;

    @BeforeAll
    static void train() {
        BellowsConfig config = TinyRun.config(
                stored,
                List.of(
                        "data.train_batch_size=4",
                        "actor.ppo_mini_batch_size=2",
                        "critic.enable=true",
                        "reward.functions=[{" + EVEN_VOWELS + "}]",
                        "critic.optim.lr=0.001",
                        "trainer.max_actor_ckpt_to_keep=1",
                        "trainer.save_freq=2",
                        "trainer.total_training_steps=3"));
        new TrainLoop(spark, config, Progress.NONE).run();
    }

    private ReplayReport replay(int iteration, String... changes) {
        return replay(iteration, folder.resolve("replay"), changes);
    }

    private static ReplayReport replay(int iteration, Path target, String... changes) {
        return new Replay(spark, stored.toString(), iteration, List.of(changes), target.toString(), Progress.NONE)
                .run();
    }

    @Test
    void withoutChangesEverythingIsTheSameToTheBitAndTheRunIsLeftAlone() throws IOException {
        Map<Path, Long> before = files();

        ReplayReport report = replay(3);

        assertThat(report.isIdentical()).as(report.toString()).isTrue();
        assertThat(report.rewards().rows()).isEqualTo(12);
        assertThat(report.advantages().rows()).isEqualTo(12);
        assertThat(report.weights())
                .extracting(ReplayReport.Weights::folder)
                .containsExactly("actor", "critic", "optimizer");
        for (String file : List.of("optimizer/actor.safetensors", "optimizer/critic.safetensors")) {
            assertThat(folder.resolve("replay/checkpoints/000003").resolve(file))
                    .hasSameBinaryContentAs(stored.resolve("checkpoints/000003").resolve(file));
        }
        assertThat(files()).isEqualTo(before);
        try (RunDirectory replayed =
                RunDirectory.open(spark, folder.resolve("replay").toString())) {
            assertThat(replayed.verify()).isEmpty();
            assertThat(replayed.committed(3, Table.EXPERIENCE)
                            .where("exists(advantages, a -> a <> 0)")
                            .count())
                    .as("without advantages the update would hardly be one")
                    .isPositive();
        }
    }

    @Test
    void anotherRewardAndLossGiveOtherAdvantagesAndWeightsOfTheSameTrajectories() {
        ReplayReport report = replay(3, "reward.functions=[{" + EVEN_VOWELS + ", weight: -1}]", "actor.clip_ratio=0.1");

        assertThat(report.isIdentical()).isFalse();
        assertThat(report.rewards().different()).isPositive();
        assertThat(report.rewards().largest()).isPositive();
        assertThat(report.advantages().different()).isPositive();
        assertThat(report.logProbs().different())
                .as("the policy before the update is the same")
                .isZero();
        assertThat(report.metrics())
                .extracting(ReplayReport.Metric::name)
                .contains("critic/score/mean")
                .doesNotContain("response_length/mean", "timing_s/step");
        ReplayReport.Weights critic = report.weights().get(1);
        assertThat(critic.identical()).isFalse();
        assertThat(critic.largest()).isBetween(1e-9, 1.0);
        try (RunDirectory run = RunDirectory.open(spark, stored.toString());
                RunDirectory replayed =
                        RunDirectory.open(spark, folder.resolve("replay").toString())) {
            assertThat(replayed.committed(3, Table.SCORES)
                            .join(run.committed(3, Table.SCORES), "trajectory_id")
                            .count())
                    .as("the ids are those of the run")
                    .isEqualTo(12);
        }
    }

    @Test
    void keysThatDecideOnWhatIsSampledAreRefusedByName() {
        assertThatThrownBy(() -> replay(
                        3,
                        "rollout.n=4",
                        "data.max_response_length=10",
                        "algorithm.adv_estimator=remax",
                        "actor.clip_ratio=0.1"))
                .isInstanceOf(InvalidConfigException.class)
                .hasMessageContaining("Unsupported change of rollout.n: it needs other trajectories")
                .hasMessageContaining("Unsupported change of data.max_response_length")
                .hasMessageContaining("Unsupported change of algorithm.adv_estimator")
                .hasMessageNotContaining("actor.clip_ratio");
        assertThat(folder.resolve("replay")).doesNotExist();
    }

    @Test
    void whatCannotBeReplayedIsRefusedWithTheReason() throws IOException {
        assertThatThrownBy(() -> replay(4))
                .hasMessageContaining("Cannot replay iteration 4")
                .hasMessageContaining("not committed; the newest one that is, is 3");
        assertThatThrownBy(() -> replay(2))
                .hasMessageContaining("the checkpoint of iteration 1, from which it started, is deleted");
        assertThatThrownBy(() -> replay(3, stored.resolve("iterations/replay")))
                .hasMessageContaining("not an empty folder outside of the run");
        Files.createDirectories(folder.resolve("full/of"));
        assertThatThrownBy(() -> replay(3, folder.resolve("full"))).hasMessageContaining("not an empty folder");
    }

    private static Map<Path, Long> files() throws IOException {
        Map<Path, Long> files = new TreeMap<>();
        try (Stream<Path> all = Files.walk(stored)) {
            for (Path file : all.toList()) {
                files.put(
                        stored.relativize(file), Files.getLastModifiedTime(file).toMillis());
            }
        }
        return files;
    }
}
