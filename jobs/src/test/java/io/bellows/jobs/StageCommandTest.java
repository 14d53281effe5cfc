package io.bellows.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An iteration made stage by stage is one that train goes on from, and verify finds what was changed in it. */
@Tag("slow")
class StageCommandTest {

    @TempDir
    private Path folder;

    @Test
    void stagesMakeAnIterationOnceAndVerifyNamesEachThingThatWasChanged() throws IOException {
        String run = folder.resolve("run").toString();
        assertThat(CommandLineRun.of("rollout", "--run", run, "--iteration", "1")
                        .err())
                .contains("there is no run.json in it; give -c FILE");

        String config = config().toString();
        ok("rollout", "--json", "--run", run, "--iteration", "1", "-c", config);
        assertThat(tables(run)).containsExactly("trajectories");
        List<String> attempts = names(folder.resolve("run/iterations/000001/trajectories"));
        ok("rollout", "--json", "--run", run, "--iteration", "1");
        assertThat(names(folder.resolve("run/iterations/000001/trajectories"))).isEqualTo(attempts);
        ok("score", "--json", "--run", run, "--iteration", "1");
        ok("advantage", "--json", "--run", run, "--iteration", "1");
        assertThat(tables(run)).containsExactly("experience", "scores", "trajectories");
        ok("update", "--json", "--run", run, "--iteration", "1");
        assertThat(tables(run)).containsExactly("experience", "scores", "trajectories", "update");
        ok("score", "--json", "--run", run, "--iteration", "1");

        CommandLineRun early = CommandLineRun.of("score", "--json", "--run", run, "--iteration", "3");
        assertThat(early.exitCode()).isEqualTo(1);
        assertThat(early.err()).contains("Cannot run iteration 3").contains("the next one is 2");

        ok("verify", "--json", run);
        aReplaySaysWhatDiffersAndLeavesTheRunAsItIs(run);
        Path checkpoint = folder.resolve("run/checkpoints/000001/actor/model.safetensors");
        Path table = parquet(folder.resolve("run/iterations/000001/scores"));
        Path manifest = folder.resolve("run/iterations/000001/experience/manifest.json");
        flipLastByte(checkpoint);
        flipLastByte(table);
        Files.writeString(
                manifest, Files.readString(manifest).replaceFirst("\"committedAt\" : \"2", "\"committedAt\" : \"1"));
        CommandLineRun verified = CommandLineRun.of("verify", "--json", run);
        assertThat(verified.exitCode()).isEqualTo(1);
        assertThat(verified.result().get("problems").size()).isEqualTo(3);
        assertThat(verified.result().get("problems").toString())
                .contains(checkpoint.getFileName().toString())
                .contains(table.getFileName().toString())
                .contains("experience/manifest.json");
    }

    private void aReplaySaysWhatDiffersAndLeavesTheRunAsItIs(String run) {
        String target = folder.resolve("replay").toString();
        CommandLineRun refused =
                CommandLineRun.of("replay", run, "--iteration", "1", "--set", "rollout.n=3", "-o", target);
        assertThat(refused.exitCode()).isEqualTo(2);
        assertThat(refused.err()).contains("Unsupported change of rollout.n");

        CommandLineRun replayed = CommandLineRun.of(
                "replay",
                "--json",
                run,
                "--iteration",
                "1",
                "--set",
                "reward.functions=[{name: format_match, pattern: '(?s).*', weight: 3}]",
                "-o",
                target);
        assertThat(replayed.exitCode()).as(replayed.err()).isZero();
        assertThat(replayed.err()).contains("rewards ").contains("iteration 1 differs");
        assertThat(replayed.result().get("identical").asBoolean()).isFalse();
        assertThat(replayed.result().at("/rewards/rows").asInt()).isEqualTo(4);
        ok("verify", "--json", target);
        ok("verify", "--json", run);
    }

    private static void ok(String... arguments) {
        CommandLineRun run = CommandLineRun.of(arguments);
        assertThat(run.exitCode()).as(run.err()).isZero();
    }

    private List<String> tables(String run) throws IOException {
        return names(Path.of(run, "iterations/000001"));
    }

    private static List<String> names(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    private static Path parquet(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().endsWith(".parquet"))
                    .findFirst()
                    .orElseThrow();
        }
    }

    private static void flipLastByte(Path file) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        bytes[bytes.length - 1] ^= 1;
        Files.write(file, bytes);
    }

    private Path config() throws IOException {
        Path data = Files.writeString(folder.resolve("data.jsonl"), """
                {"question": "1 + 1", "answer": "#### 2"}
                {"question": "2 + 1", "answer": "#### 3"}
                {"question": "3 + 1", "answer": "#### 4"}
                {"question": "4 + 1", "answer": "#### 5"}
                """);
        return Files.writeString(folder.resolve("config.yaml"), """
                data: {train_files: '%s', train_batch_size: 2, max_prompt_length: 40, max_response_length: 8}
                model: {path: ../pipeline/src/test/resources/golden/models/qwen2}
                rollout: {n: 2}
                actor: {ppo_mini_batch_size: 2}
                reward: {functions: [{name: format_match, pattern: '([aeiou].*){4}'}]}
                trainer: {total_training_steps: 2}
                spark: {master: 'local[2]'}
                """.formatted(data));
    }
}
