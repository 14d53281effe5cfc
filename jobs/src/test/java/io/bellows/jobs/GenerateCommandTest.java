package io.bellows.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GenerateCommandTest {

    private static final Path GOLDEN = Path.of("../pipeline/src/test/resources/golden");
    private static final String MODEL = GOLDEN.resolve("models/qwen2").toString();

    @Test
    void greedyIdsEqualTheReferenceUpToTheStopToken(@TempDir Path folder) throws IOException {
        JsonNode greedy = new ObjectMapper()
                .readTree(GOLDEN.resolve("model_qwen2.json").toFile())
                .get("greedy");
        List<String> lines = new ArrayList<>();
        greedy.get("prompts").forEach(ids -> lines.add("{\"ids\":" + ids + "}"));
        Path input = Files.write(folder.resolve("prompts.jsonl"), lines);

        CommandLineRun run = CommandLineRun.of(
                "generate", "--json", "--model", MODEL, "--input", input.toString(), "--max-tokens", "24");

        assertThat(run.exitCode()).isZero();
        JsonNode generations = run.result().get("generations");
        assertThat(generations).hasSize(lines.size());
        for (int i = 0; i < lines.size(); i++) {
            List<Integer> reference = ints(greedy.get("new_ids").get(i));
            List<Integer> ids = ints(generations.get(i).get("ids"));
            assertThat(ids).isEqualTo(reference.subList(0, ids.size()));
            assertThat(generations.get(i).get("logprobs")).hasSameSizeAs(ids);
            assertThat(generations.get(i).get("finish_reason").asText())
                    .isEqualTo(ids.size() == 24 ? "length" : "stop");
        }
    }

    @Test
    void samplesFollowTheirSeedAndMoreOfThemLeaveTheFirstAsTheyWere() {
        assertThat(texts("2")).isEqualTo(texts("2")).isEqualTo(texts("4").subList(0, 2));
    }

    @Test
    void everyPromptThatIsWrongIsNamedAtOnce(@TempDir Path folder) throws IOException {
        Path input = Files.writeString(folder.resolve("prompts.jsonl"), "{\"ids\":[5000]}\n{}\n{\"ids\":[1]}\n");

        CommandLineRun run = CommandLineRun.of("generate", "--json", "--model", MODEL, "--input", input.toString());

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.result().get("errors")).hasSize(2);
        assertThat(run.err()).contains("line 1", "5000", "line 2", "messages");
    }

    @Test
    void aRawPromptNeedsNoChatTemplateAndBeginsWithTheBos(@TempDir Path folder) throws IOException {
        for (String file : List.of("config.json", "model.safetensors", "tokenizer.json")) {
            Files.copy(Path.of(MODEL, file), folder.resolve(file));
        }
        Files.writeString(
                folder.resolve("tokenizer_config.json"),
                "{\"bos_token\": \"<|im_start|>\", \"add_bos_token\": true, \"pad_token\": null}");
        JsonNode generations = raw(folder, "a", "<|im_start|>a").result().get("generations");
        assertThat(generations.get(0).get("prompt_ids"))
                .hasSize(2)
                .isEqualTo(generations.get(1).get("prompt_ids"));
        assertThat(generations.get(0).get("prompt_ids").get(0).asInt()).isEqualTo(1022);

        CommandLineRun chat = CommandLineRun.of("generate", "--model", folder.toString(), "--prompt", "a");
        assertThat(chat.exitCode()).isEqualTo(1);
        assertThat(chat.err())
                .contains("Cannot find a chat template in " + folder + ": add the file chat_template.jinja");
    }

    private static CommandLineRun raw(Path model, String first, String second) {
        return CommandLineRun.of(
                "generate",
                "--json",
                "--raw",
                "--model",
                model.toString(),
                "--max-tokens",
                "1",
                "--prompt",
                first,
                "--prompt",
                second);
    }

    @Test
    void withoutMaxTokensAnAnswerEndsWithTheModelsPositions(@TempDir Path folder) throws IOException {
        Path input = Files.writeString(
                folder.resolve("prompts.jsonl"), "{\"ids\":" + Collections.nCopies(509, 7) + "}\n{\"ids\":[7]}\n");

        CommandLineRun run = CommandLineRun.of("generate", "--json", "--model", MODEL, "--input", input.toString());

        assertThat(run.exitCode()).isZero();
        List<JsonNode> ids = run.result().get("generations").findValues("ids");
        assertThat(ids.get(0)).hasSizeLessThanOrEqualTo(3).isNotEmpty();
        assertThat(ids.get(1)).hasSizeLessThanOrEqualTo(256).hasSizeGreaterThan(3);
    }

    @Test
    void aPromptThatLeavesNoRoomForMaxTokensIsRefusedWithTheNumbers() {
        CommandLineRun run =
                CommandLineRun.of("generate", "--model", MODEL, "--raw", "--prompt", "Hi", "--max-tokens", "512");

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).contains("512 of the answer", "512 positions", "--max-tokens");
    }

    @Test
    void aPromptIsRequired() {
        assertThat(CommandLineRun.of("generate", "--model", MODEL).exitCode()).isEqualTo(2);
    }

    private static List<JsonNode> texts(String samples) {
        CommandLineRun run = CommandLineRun.of(
                "generate",
                "--json",
                "--model",
                MODEL,
                "--prompt",
                "Hi",
                "-n",
                samples,
                "--temperature",
                "1",
                "--max-tokens",
                "5");
        return run.result().get("generations").findValues("ids");
    }

    private static List<Integer> ints(JsonNode array) {
        List<Integer> ints = new ArrayList<>();
        array.forEach(value -> ints.add(value.asInt()));
        return ints;
    }
}
