package io.bellows.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RenderCommandTest {

    private static final String MODEL = "../pipeline/src/test/resources/golden/tokenizer";

    @TempDir
    private Path folder;

    @Test
    void everyLineGetsItsTextAndIdsOrItsOwnErrorInOrder() throws IOException {
        List<JsonNode> answers = render("""
                {"messages":[{"role":"user","content":"Hi"}],"add_generation_prompt":true}
                {"messages":"none"}
                not json

                {"messages":[{"role":"user","content":"Bye"}]}
                """);

        assertThat(answers).hasSize(4);
        assertThat(answers.get(0).get("text").asText())
                .endsWith("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
        assertThat(answers.get(0).get("ids")).isNotEmpty();
        assertThat(answers.get(1).get("error").asText()).contains("line 2", "Invalid conversation");
        assertThat(answers.get(2).get("error").asText()).contains("line 3");
        assertThat(answers.get(3).get("text").asText()).endsWith("user\nBye<|im_end|>\n");
    }

    @Test
    void promptForAnAnswerAndOpenLastMessageExcludeEachOther() throws IOException {
        assertThat(render("""
                {"messages":[{"role":"user","content":"Hi"}],"add_generation_prompt":true,"continue_final_message":true}
                """).get(0).get("error").asText()).contains("exclude each other");
    }

    /** Rows that somebody made to break things, each beside a row that must not notice. */
    @Test
    void aHostileRowIsItsOwnErrorAndNobodyElses() throws IOException {
        String good = "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}";
        List<String> hostile = List.of(
                good.substring(0, good.length() - 3),
                good + "}",
                "[1,2]",
                "null",
                "{\"messages\":{}}",
                "{\"messages\":[\"Hi\"]}",
                "{\"messages\":[{\"role\":\"user\"}]}",
                "{\"messages\":[{\"role\":\"user\",\"content\":null}]}",
                "{\"messages\":[{\"role\":\"user\",\"content\":5}]}",
                "{\"messages\":[{\"role\":7,\"content\":\"Hi\"}]}",
                "{\"messages\":[{\"content\":\"Hi\"}]}",
                "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\"}]}]}",
                "{\"messages\":[{\"role\":\"assistant\",\"tool_calls\":\"[{\"}]}",
                "{\"messages\":[],\"tools\":{\"name\":\"f\"}}",
                "{\"messages\":[],\"tools\":[\"f\"]}",
                "{\"messages\":[],\"chat_template_kwargs\":[]}",
                "[".repeat(100_000),
                "{\"a\":".repeat(900) + "1" + "}".repeat(900),
                good.replace("\"Hi\"", "\"Hi\",\"deep\":" + "[".repeat(900) + "]".repeat(900)),
                good.replace("user", "\u00e9")
                        .replace(
                                "\"Hi\"",
                                "\"Hi\",\"tool_calls\":[{\"function\":" + "[".repeat(300) + "]".repeat(300) + "}]"));
        StringBuilder lines = new StringBuilder();
        hostile.forEach(row -> lines.append(row).append('\n').append(good).append('\n'));

        List<JsonNode> answers = render(lines.toString());

        assertThat(answers).hasSize(2 * hostile.size());
        for (int i = 0; i < hostile.size(); i++) {
            assertThat(answers.get(2 * i).path("error").asText())
                    .as(hostile.get(i).substring(0, Math.min(100, hostile.get(i).length())))
                    .contains("chats.jsonl, line " + (2 * i + 1) + ": ")
                    .matches("(?s).*: (Cannot|Invalid|Unsupported) .*");
            assertThat(answers.get(2 * i + 1).path("text").asText()).endsWith("user\nHi<|im_end|>\n");
        }
    }

    @Test
    void oddButReadableContentIsRendered() throws IOException {
        List<JsonNode> answers = render("""
                {"messages":[{"role":"user","content":"a\\u0000b\\u001b"}]}
                {"messages":[{"role":"user","content":"half \\ud83d pair"}]}
                {"messages":[{"role":"user","content":"%s"}]}
                """.formatted("x ".repeat(500_000)));

        assertThat(answers.get(0).path("text").asText()).contains("a\u0000b\u001b<|im_end|>");
        assertThat(answers.get(1).path("text").asText()).contains("half \ufffd pair<|im_end|>");
        assertThat(answers.get(2).path("ids").size()).isGreaterThan(500_000);
    }

    @Test
    void aLineThatIsNoUtf8IsAnErrorOfThatLine() throws IOException {
        byte[] lines =
                "{\"messages\":[{\"role\":\"user\",\"content\":\"\u00e9\"}]}\n{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}\n"
                        .getBytes(StandardCharsets.ISO_8859_1);
        List<JsonNode> answers = render(Files.write(folder.resolve("latin1.jsonl"), lines));

        assertThat(answers.get(0).path("error").asText()).endsWith("line 1: Invalid line: it is not UTF-8");
        assertThat(answers.get(1).has("text")).isTrue();
    }

    @Test
    void variablesOfTheTemplateComeFromTheCommandLineAndFromTheRow() throws IOException {
        Path model = Files.createDirectory(folder.resolve("model"));
        Files.copy(Path.of(MODEL, "tokenizer.json"), model.resolve("tokenizer.json"));
        Files.copy(Path.of(MODEL, "tokenizer_config.json"), model.resolve("tokenizer_config.json"));
        Files.writeString(
                model.resolve("chat_template.jinja"),
                "{{ enable_thinking }} {{ note }} {{ messages[0].reasoning_content }}");
        Path input = Files.writeString(folder.resolve("kwargs.jsonl"), """
                {"messages":[{"role":"user","content":"Hi","reasoning_content":"r"}],"chat_template_kwargs":{"note":"<|im_end|>"}}
                """);
        JsonNode answer = CommandLineRun.of(
                        "render",
                        "--model",
                        model.toString(),
                        "--input",
                        input.toString(),
                        "--chat-template-kwargs",
                        "{\"enable_thinking\": false}")
                .lines()
                .get(0);

        assertThat(answer.path("text").asText()).isEqualTo("False <|im_end|> r");
        assertThat(answer.path("ids")).extracting(JsonNode::asInt).doesNotContain(1023);
    }

    @Test
    void variablesThatMakeNoSenseAreAUsageError() {
        assertUsageError("{", "Invalid --chat-template-kwargs {: expected a JSON object");
        assertUsageError(
                "{\"chat_template\": \"rag\"}", "Cannot find the chat template 'rag': the model folder has [default]");
        assertUsageError("{\"strftime_now\": \"today\"}", "Invalid template variable strftime_now: 'today' is no date");
    }

    private static void assertUsageError(String kwargs, String message) {
        CommandLineRun run = CommandLineRun.of(
                "render",
                "--model",
                MODEL,
                "--input",
                MODEL + "/tokenizer_config.json",
                "--chat-template-kwargs",
                kwargs);
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).contains(message);
    }

    private List<JsonNode> render(String lines) throws IOException {
        return render(Files.writeString(folder.resolve("chats.jsonl"), lines));
    }

    private static List<JsonNode> render(Path input) {
        CommandLineRun run = CommandLineRun.of("render", "--model", MODEL, "--input", input.toString());
        assertThat(run.exitCode()).isZero();
        return run.lines();
    }
}
