package io.bellows.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EvalCommandTest {

    private static final Path PROJECT = Path.of("..").toAbsolutePath().normalize();

    @TempDir
    private Path folder;

    private CommandLineRun eval(String... options) {
        List<String> all = new ArrayList<>(List.of(
                "eval",
                "--json",
                "-c",
                PROJECT.resolve("conf/calculator-tool.yaml").toString(),
                "--model",
                PROJECT.resolve("data-samples/calculator-starter").toString(),
                "-o",
                folder.resolve("evaluation").toString(),
                "data.val_files=" + PROJECT.resolve("data-samples/products/validation.jsonl"),
                "rollout.multi_turn.tool_config_path=" + PROJECT.resolve("conf/tools/calculator.yaml"),
                "spark.master=local[2]"));
        all.addAll(List.of(options));
        return CommandLineRun.of(all.toArray(String[]::new));
    }

    @Test
    @Tag("slow")
    void anEvaluationEndsWithAveragesWithCountsAndTablesThatSqlReads() {
        CommandLineRun run = eval("-n", "4", "-r", "2", "-t", "1.0", "-j", "8");

        assertThat(run.exitCode()).as(run.err()).isZero();
        JsonNode result = run.result();
        assertThat(result.get("trajectories").asInt()).isEqualTo(8);
        assertThat(result.get("failed").asInt()).isZero();
        JsonNode source = result.get("sources").get("bellows/products");
        assertThat(source.at("/reward/count").asInt()).isEqualTo(8);
        assertThat(source.at("/pass@k/2/count").asInt()).isEqualTo(4);
        assertThat(source.at("/pass^k/2/mean").asDouble())
                .isLessThanOrEqualTo(source.at("/pass@k/2/mean").asDouble());
        assertThat(run.err()).contains("pass@2", "pass^2", "8 trajectories, 0 failed");
        CommandLineRun query = CommandLineRun.of(
                "sql",
                "--json",
                folder.resolve("evaluation").toString(),
                "SELECT count(*) AS n FROM trajectories JOIN scores USING (trajectory_id)");
        assertThat(query.result().get("rows").toString()).isEqualTo("[{\"n\":8}]");
    }

    @Test
    void severalGreedyAnswersAndAnEmptyListOfDataAreUsageErrors() {
        CommandLineRun greedy = eval("-r", "4");
        assertThat(greedy.exitCode()).isEqualTo(2);
        assertThat(greedy.err()).contains("Invalid rollout.val_kwargs.n = 4: greedy samples are all alike");

        CommandLineRun empty = eval("data.val_files=[]");
        assertThat(empty.exitCode()).isEqualTo(2);
        assertThat(empty.err()).contains("Invalid data.val_files = []: name at least one file to evaluate on");
    }

    @Test
    void aServerThatIsNotThereAndAnUnknownProtocolAreSaidBeforeAnythingRuns() {
        CommandLineRun gone = eval("--server", "http://127.0.0.1:1/v1");
        assertThat(gone.exitCode()).isEqualTo(1);
        assertThat(gone.err()).contains("Cannot ask the servers for their models: http://127.0.0.1:1/v1");

        CommandLineRun protocol = eval("--server", "http://127.0.0.1:1/v1", "--protocol", "telepathy");
        assertThat(protocol.exitCode()).isEqualTo(2);
        assertThat(protocol.err()).contains("Invalid --protocol telepathy: expected completions or chat");
        assertThat(folder.resolve("evaluation")).doesNotExist();
    }
}
