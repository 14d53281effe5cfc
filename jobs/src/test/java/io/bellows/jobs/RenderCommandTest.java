package io.bellows.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
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

    private List<JsonNode> render(String lines) throws IOException {
        Path input = Files.writeString(folder.resolve("chats.jsonl"), lines);
        CommandLineRun run = CommandLineRun.of("render", "--model", MODEL, "--input", input.toString());
        assertThat(run.exitCode()).isZero();
        return run.lines();
    }
}
