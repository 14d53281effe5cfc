package io.bellows.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.bellows.text.toolcall.ToolCall;
import io.bellows.tool.ToolRegistry;
import io.bellows.tool.ToolSession;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The evaluation of conf/sql-agent.yaml, with the questions and the database that the project ships. */
class SqlAgentExampleTest {

    private static final Path PROJECT = Path.of("..").toAbsolutePath().normalize();
    private static final Path TOOLS = PROJECT.resolve("conf/tools/orders.yaml");
    private static final Path QUESTIONS = PROJECT.resolve("data-samples/orders/questions.jsonl");
    private static final String MODEL = "../pipeline/src/test/resources/golden/models/qwen2";

    @TempDir
    private Path folder;

    @Test
    void theAnswerToEachQuestionIsWhatItsQueryGives() throws IOException {
        ToolRegistry tools = ToolRegistry.builder()
                .nativeTools(TOOLS.toString(), Files.readString(TOOLS))
                .build();
        JsonMapper json = new JsonMapper();
        int questions = 0;
        try (ToolSession session = tools.open(null, null, String::length, Duration.ofMinutes(1))) {
            for (String line : Files.readAllLines(QUESTIONS)) {
                JsonNode row = json.readTree(line);
                String query = json.createObjectNode()
                        .put("query", row.get("sql").asText())
                        .toString();
                String rows = session.call(new ToolCall("abcdefghi", "sql", query), Duration.ofMinutes(1))
                        .text();
                assertThat(rows.lines().skip(1))
                        .as(row.get("question").asText())
                        .containsExactly(row.get("answer").asText());
                questions++;
            }
        }
        assertThat(questions).isEqualTo(20);
    }

    /** A random model calls nothing and is never right; what is shown is that the example fits what serves the model. */
    @Test
    @Tag("slow")
    void theExampleRunsAgainstAServedModel() throws Exception {
        try (RunningServer server = RunningServer.start(MODEL)) {
            CommandLineRun run = CommandLineRun.of(
                    "eval",
                    "--json",
                    "-c",
                    PROJECT.resolve("conf/sql-agent.yaml").toString(),
                    "--model",
                    MODEL,
                    "--server",
                    server.address() + "/v1",
                    "-o",
                    folder.resolve("evaluation").toString(),
                    "-n",
                    "2",
                    "data.val_files=" + QUESTIONS,
                    "data.system_prompt=Ask sql.", // the tiny model holds 512 tokens
                    "data.max_prompt_length=480",
                    "data.max_response_length=16",
                    "rollout.multi_turn.tool_config_path=" + TOOLS,
                    "spark.master=local[2]");
            assertThat(run.exitCode()).as(run.err()).isZero();
            assertThat(run.result().get("trajectories").asInt()).isEqualTo(2);
            assertThat(run.result().get("failed").asInt()).isZero();
            assertThat(run.result().at("/sources/bellows~1orders/reward/count").asInt())
                    .isEqualTo(2);
        }
    }
}
