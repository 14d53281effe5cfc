package io.bellows.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One run, killed by the operating system in every stage of an iteration, one start after the other, and then left to end. */
@Tag("slow")
class KillAndResumeTest {

    private static final Duration PATIENCE = Duration.ofMinutes(4);
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(1);
    private static final int KILLED = 128 + 9;
    private static final Path RESOURCES =
            Path.of("../pipeline/src/test/resources").toAbsolutePath();

    /** Stages of the second iteration, in their order: what appears while one is at work, and what only its end brings. */
    private enum Stage {
        ROLLOUT("iterations/000002/trajectories", "attempt-", "iterations/000002/trajectories/manifest.json"),
        SCORE("iterations/000002/scores", "attempt-", "iterations/000002/scores/manifest.json"),
        LOG_PROBS("iterations/000002/experience", "attempt-", "iterations/000002/experience/manifest.json"),
        UPDATE("checkpoints", ".attempt-", "iterations/000002/update/manifest.json"),
        METRICS("iterations/000002/update", "attempt-", "iterations/000002/update/manifest.json");

        private final String folder;
        private final String attempt;
        private final String commit;

        Stage(String folder, String attempt, String commit) {
            this.folder = folder;
            this.attempt = attempt;
            this.commit = commit;
        }

        boolean isAtWork(Path run) {
            return names(run.resolve(folder)).stream().anyMatch(name -> name.startsWith(attempt));
        }

        boolean isCommitted(Path run) {
            return Files.exists(run.resolve(commit));
        }
    }

    @TempDir
    private Path folder;

    private final List<Process> started = new ArrayList<>();

    @AfterEach
    void nothingStaysRunning() {
        started.forEach(Process::destroyForcibly);
    }

    @Test
    void aRunKilledInEveryStageEndsInTheSameWeightsBitForBit() throws Exception {
        Path unbroken = folder.resolve("unbroken");
        letEnd(start(unbroken), unbroken);

        Path broken = folder.resolve("broken");
        for (Stage stage : Stage.values()) {
            killIn(stage, start(broken), broken);
            assertThat(stage.isCommitted(broken))
                    .as("the kill came before %s was committed", stage)
                    .isFalse();
            if (stage == Stage.ROLLOUT) {
                pretendTheHeartbeatIsFresh(broken);
            }
        }
        letEnd(start(broken), broken);

        for (String file : List.of(
                "optimizer/actor.safetensors",
                "actor/model.safetensors",
                "optimizer/critic.safetensors",
                "critic/model.safetensors")) {
            assertThat(broken.resolve("checkpoints/000002").resolve(file))
                    .hasSameBinaryContentAs(
                            unbroken.resolve("checkpoints/000002").resolve(file));
        }
        assertThat(names(broken.resolve("lease")))
                .as("one lease per start")
                .containsExactly("%06d.json".formatted(Stage.values().length + 1));
        assertThat(names(broken.resolve("checkpoints"))).noneMatch(name -> name.startsWith("."));
        for (String table : List.of("trajectories", "scores", "experience", "update")) {
            assertThat(names(broken.resolve("iterations/000002").resolve(table)))
                    .as("what the killed starts left of %s is gone", table)
                    .filteredOn(name -> name.startsWith("attempt-"))
                    .hasSize(1);
        }
    }

    private void killIn(Stage stage, Process process, Path run) throws IOException, InterruptedException {
        Instant deadline = Instant.now().plus(PATIENCE);
        while (!stage.isAtWork(run)) {
            if (!process.isAlive() || Instant.now().isAfter(deadline)) {
                fail("%s of iteration 2 was not seen at work; the process wrote:%n%s", stage, output(run));
            }
            LockSupport.parkNanos(BETWEEN_LOOKS.toNanos());
        }
        process.destroyForcibly();
        assertThat(process.waitFor()).as(() -> output(run)).isEqualTo(KILLED);
    }

    private static void letEnd(Process process, Path run) throws InterruptedException {
        assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                .as(() -> "ended in time: " + output(run))
                .isTrue();
        assertThat(process.exitValue()).as(() -> output(run)).isZero();
    }

    /**
     * Takes the age of the heartbeat out of the next start, however slow this machine is: the lease passes on only because
     * its holder is seen to be dead.
     */
    private static void pretendTheHeartbeatIsFresh(Path run) throws IOException {
        Path lease = run.resolve("lease/000001.json");
        ObjectMapper json = new ObjectMapper();
        ObjectNode content = (ObjectNode) json.readTree(lease.toFile());
        assertThat(content.get("released").asBoolean()).isFalse();
        content.put("heartbeat", Instant.now().plus(Duration.ofHours(1)).toEpochMilli());
        json.writeValue(lease.toFile(), content);
    }

    private Process start(Path run) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "@" + Path.of("../conf/jvm.options").toAbsolutePath(),
                        "@" + arguments(),
                        // A process that lives for seconds has no use for the optimizing compiler.
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "io.bellows.jobs.Bellows",
                        "train",
                        "-c",
                        config().toString(),
                        "trainer.default_local_dir=" + run)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(outputFile(run).toFile()));
        builder.environment()
                .putAll(Map.of(
                        "OMP_NUM_THREADS", "1",
                        "GOMP_SPINCOUNT", "0",
                        "OMP_WAIT_POLICY", "passive",
                        "MALLOC_ARENA_MAX", "2",
                        "SPARK_LOCAL_IP", "127.0.0.1"));
        Process process = builder.start();
        started.add(process);
        return process;
    }

    /** As the launcher's, in a file because a class path may be longer than a command line. */
    private Path arguments() throws IOException {
        Path home = Path.of("..").toRealPath();
        return Files.write(
                folder.resolve("java.options"),
                Stream.of(
                                "-Xmx1g",
                                "-Djava.awt.headless=true",
                                "-Dfile.encoding=UTF-8",
                                "-Dai.djl.offline=true",
                                "-Dbellows.home=" + home,
                                "-Dlog4j2.configurationFile=" + home.resolve("conf/log4j2.xml"),
                                "-cp",
                                System.getProperty("java.class.path"))
                        .map(argument -> '"' + argument.replace("\\", "\\\\").replace("\"", "\\\"") + '"')
                        .toList());
    }

    private Path config() throws IOException {
        return Files.writeString(folder.resolve("config.yaml"), """
                data:
                  train_files: '%1$s/data/gsm8k/test.jsonl'
                  train_batch_size: 8
                  max_prompt_length: 200
                  max_response_length: 12
                  filter_overlong_prompts: true
                model: {path: '%1$s/golden/models/qwen2'}
                rollout: {n: 3, max_num_seqs: 8}
                actor:
                  ppo_mini_batch_size: 4
                  use_kl_loss: true
                  optim: {lr: 0.001}
                critic: {enable: true, optim: {lr: 0.001}}
                reward:
                  functions: [{name: format_match, pattern: '([aeiou].*){4}'}]
                trainer: {total_training_steps: 2, deterministic: true}
                spark: {master: 'local[2]'}
                """.formatted(RESOURCES));
    }

    private static Path outputFile(Path run) {
        return run.resolveSibling(run.getFileName() + ".out");
    }

    private static String output(Path run) {
        try {
            return Files.readString(outputFile(run));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What is in a folder now; nothing when it is not there. */
    private static List<String> names(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).toList();
        } catch (NoSuchFileException e) {
            return List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
