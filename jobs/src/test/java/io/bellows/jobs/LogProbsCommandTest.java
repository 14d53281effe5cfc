package io.bellows.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LogProbsCommandTest {

    private static final Path GOLDEN = Path.of("../pipeline/src/test/resources/golden");

    @TempDir
    private Path folder;

    @Test
    void logProbsAndEntropiesEqualTheReferenceInOrder() throws IOException {
        JsonNode golden =
                new ObjectMapper().readTree(GOLDEN.resolve("model_qwen2.json").toFile());
        JsonNode rows = golden.get("right");
        List<String> input = new ArrayList<>();
        for (int i = 0; i < golden.get("lengths").size(); i++) {
            List<JsonNode> ids = new ArrayList<>();
            rows.get("input_ids").get(i).forEach(ids::add);
            input.add("{\"ids\":" + ids.subList(0, golden.get("lengths").get(i).asInt()) + "}");
        }

        CommandLineRun run = logProbs(input);

        assertThat(run.exitCode()).isZero();
        assertThat(run.lines()).hasSize(input.size());
        for (int i = 0; i < input.size(); i++) {
            int scored = golden.get("lengths").get(i).asInt() - 1;
            assertClose(
                    run.lines().get(i).get("logprobs"),
                    rows.get("token_logprobs").get(i),
                    scored);
            assertClose(run.lines().get(i).get("entropy"), rows.get("entropy").get(i), scored);
        }
    }

    @Test
    void aRowThatCannotBeScoredIsItsOwnErrorAndFailsTheCommandAtTheEnd() throws IOException {
        CommandLineRun run = logProbs(
                List.of("{\"ids\":[5]}", "{\"ids\":[]}", "{\"ids\":[1024]}", "{\"ids\":[1.5]}", "{\"ids\":[1,2]}"));

        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.lines().get(0).get("logprobs")).isEmpty();
        assertThat(run.lines().get(1).get("logprobs")).isEmpty();
        assertThat(run.lines().get(2).get("error").asText()).contains("line 3", "1024", "0 to 1023");
        assertThat(run.lines().get(3).get("error").asText()).contains("1.5");
        assertThat(run.lines().get(4).get("logprobs")).hasSize(1);
    }

    private CommandLineRun logProbs(List<String> lines) throws IOException {
        Path input = Files.write(folder.resolve("rows.jsonl"), lines);
        return CommandLineRun.of(
                "logprobs", "--model", GOLDEN.resolve("models/qwen2").toString(), "--input", input.toString());
    }

    private static void assertClose(JsonNode actual, JsonNode expected, int size) {
        assertThat(actual).hasSize(size);
        for (int t = 0; t < size; t++) {
            assertThat(actual.get(t).asDouble()).isCloseTo(expected.get(t).asDouble(), within(1e-4));
        }
    }
}
