package io.bellows.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.bellows.config.BellowsConfig;
import io.bellows.run.FailureMessage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

class BellowsTest {

    static List<String> commands() {
        return new ArrayList<>(
                new CommandLine(new Bellows(null, null)).getSubcommands().keySet());
    }

    @ParameterizedTest
    @MethodSource("commands")
    void everyCommandExplainsItselfAndOffersJson(String command) {
        CommandLineRun run = CommandLineRun.of(command, "--help");

        assertThat(run.exitCode()).isZero();
        assertThat(run.out()).contains("Usage: bellows " + command, "--json");
    }

    @Test
    void versionNamesBellowsSparkAndJava() {
        assertThat(CommandLineRun.of("--version").out().lines())
                .satisfiesExactly(
                        bellows -> assertThat(bellows).matches("bellows \\d.*"),
                        spark -> assertThat(spark).matches("Spark 4\\..*"),
                        java -> assertThat(java).startsWith("Java "));
    }

    @Test
    void anUnknownCommandIsAUsageErrorWithTheNearestName() {
        CommandLineRun run = CommandLineRun.of("vlidate");

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).contains("bellows validate");
    }

    @Test
    void noCommandIsAUsageError() {
        assertThat(CommandLineRun.of().exitCode()).isEqualTo(2);
    }

    @Test
    void aUsageErrorWithJsonStillEndsWithOneObject() {
        CommandLineRun run = CommandLineRun.of("validate", "--json", "--no-such-option");

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.lines()).hasSize(1);
        assertThat(run.result().get("exit_code").asInt()).isEqualTo(2);
        assertThat(run.result().get("errors")).isNotEmpty();
    }

    @Test
    void aCommandThatFailsWithJsonStillEndsWithOneObject() {
        CommandLineRun run = CommandLineRun.of("logprobs", "--json", "--model", "no-such-folder");

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.lines()).hasSize(1);
        assertThat(run.result().get("errors").get(0).asText()).contains("no-such-folder");
    }

    @Test
    void ofAFailureInsideSparkTheMessageForPeopleIsShown() {
        Exception cause = new IllegalStateException("Cannot fit 3 sequences: raise rollout.max_num_seqs");
        assertThat(FailureMessage.of(new RuntimeException("Job aborted\n\tat here", new RuntimeException(cause))))
                .isEqualTo("Cannot fit 3 sequences: raise rollout.max_num_seqs");
        assertThat(FailureMessage.of(
                        new RuntimeException("Job aborted\n\tat here", new ArithmeticException("/ by zero"))))
                .isEqualTo("java.lang.ArithmeticException: / by zero");
    }

    @Test
    void validateNamesEveryErrorAtOnceAndTheNearestKey(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("broken.yaml"), """
                data: {train_batch_sizes: 8, max_prompt_length: many}
                rollout: {n: 0}
                """);

        CommandLineRun run = CommandLineRun.of("validate", "-c", file.toString(), "--json");

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.result().get("valid").asBoolean()).isFalse();
        assertThat(run.result().get("errors").toString())
                .contains("data.train_batch_sizes", "data.train_batch_size", "data.max_prompt_length", "rollout.n");
    }

    @Test
    void validateListsEveryKeyWithDefaultAndMeaning() {
        CommandLineRun run = CommandLineRun.of("validate", "--defaults", "--json");

        assertThat(run.exitCode()).isZero();
        assertThat(run.result().get("keys")).hasSameSizeAs(BellowsConfig.keys()).anySatisfy(key -> {
            assertThat(key.get("key").asText()).isEqualTo("data.max_prompt_length");
            assertThat(key.get("default").asText()).isEqualTo("512");
            assertThat(key.get("meaning").asText()).isEqualTo("Longest prompt in tokens");
        });
        assertThat(CommandLineRun.of("validate", "--defaults").out())
                .contains("data.max_prompt_length=512\n    Longest prompt in tokens\n");
    }

    @Test
    void validateWantsAConfigurationOrTheDefaultsNotBoth() {
        assertThat(CommandLineRun.of("validate").exitCode()).isEqualTo(2);
        assertThat(CommandLineRun.of("validate", "--defaults", "-c", "a.yaml").exitCode())
                .isEqualTo(2);
        assertThat(CommandLineRun.of("validate", "--defaults", "rollout.n=3").err())
                .contains("Invalid argument rollout.n=3");
    }

    @Test
    void aMissingModelFolderIsAUsageErrorWithoutAStackTrace() {
        CommandLineRun run = CommandLineRun.of("logprobs", "--model", "no-such-folder", "--input", "none.jsonl");

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err())
                .startsWith("bellows: Cannot find the model folder no-such-folder")
                .doesNotContain("\tat ");
    }

    @Test
    void doctorLooksAtEverythingAndSaysSoTwice() {
        CommandLineRun run = CommandLineRun.of("doctor", "--run-dir", "target", "--json");

        assertThat(run.exitCode()).isZero();
        assertThat(run.result().get("checks").findValuesAsText("name"))
                .contains("java", "cores", "memory", "libtorch", "sgemm", "gpu", "run directory");
        assertThat(run.err()).contains("libtorch");
    }
}
