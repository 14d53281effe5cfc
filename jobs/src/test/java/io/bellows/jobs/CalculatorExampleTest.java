package io.bellows.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The calculator example of README.md, with the model and the data that the project ships. */
class CalculatorExampleTest {

    private static final Path PROJECT = Path.of("..").toAbsolutePath().normalize();

    @TempDir
    private Path folder;

    @Test
    void theShippedProblemsAreThoseThatTheCommandWrites() throws IOException {
        CommandLineRun run = CommandLineRun.of(
                "products",
                "--json",
                "--taught=10",
                "--tools=" + PROJECT.resolve("conf/tools/calculator.yaml"),
                "--out=" + folder);
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.result().get("training").asInt()).isEqualTo(4000);
        for (String file : new String[] {"train.jsonl", "validation.jsonl"}) {
            assertThat(folder.resolve(file))
                    .hasSameTextualContentAs(
                            PROJECT.resolve("data-samples/products").resolve(file));
        }
        assertThat(Files.readAllLines(folder.resolve("lessons.jsonl"))).hasSize(20);
    }

    @Test
    @Tag("slow")
    void theStarterAnswersAtOnceOrCallsTheCalculatorAndOnlyCallsThatSucceedPay() {
        CommandLineRun run = CommandLineRun.of(
                "train",
                "--json",
                "-c",
                PROJECT.resolve("conf/calculator-tool.yaml").toString(),
                "data.train_files=" + PROJECT.resolve("data-samples/products/train.jsonl"),
                "data.val_files=" + PROJECT.resolve("data-samples/products/validation.jsonl"),
                "data.val_max_samples=50",
                "model.path=" + PROJECT.resolve("data-samples/calculator-starter"),
                "rollout.multi_turn.tool_config_path=" + PROJECT.resolve("conf/tools/calculator.yaml"),
                "trainer.default_local_dir=" + folder.resolve("run"),
                "trainer.total_training_steps=1",
                "spark.master=local[2]");
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.result().get("accuracy_start").asDouble()).isLessThan(0.3);

        // the query of README.md
        CommandLineRun query =
                CommandLineRun.of("sql", "--json", folder.resolve("run").toString(), """
                SELECT iteration, avg(reward) AS reward,
                       sum(t.metrics['calculator_calls']) AS calls, sum(t.metrics['calculator_calls_failed']) AS failed,
                       avg(IF(t.metrics['calculator_calls'] > 0, reward, NULL)) AS reward_of_callers,
                       avg(IF(t.metrics['calculator_calls'] IS NULL, reward, NULL)) AS reward_of_others
                FROM trajectories t JOIN scores USING (trajectory_id, iteration) GROUP BY iteration ORDER BY iteration""");
        assertThat(query.exitCode()).as(query.err()).isZero();
        JsonNode row = query.result().get("rows").get(0);
        assertThat(row.get("calls").asDouble()).isBetween(40.0, 216.0); // of 256 trajectories
        assertThat(row.get("failed").asDouble()).isBetween(5.0, row.get("calls").asDouble() / 2);
        assertThat(row.get("reward_of_callers").asDouble()).isGreaterThan(0.3);
        assertThat(row.get("reward_of_others").asDouble()).isLessThan(0.1);
    }
}
