package io.bellows.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.run.FailureMessage;
import io.bellows.text.ChatPrompt;
import io.bellows.text.ChatTokenizer;
import io.bellows.text.GenerationPrompt;
import io.bellows.text.Tokenizer;
import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "render",
        description = {
            "Renders conversations with a model's chat template, as JSON lines.",
            "In:  {\"messages\":[…],\"tools\":[…],\"add_generation_prompt\":true,",
            "      \"chat_template_kwargs\":{\"enable_thinking\":false}}",
            "Out: {\"text\":\"…\",\"ids\":[…]} or {\"error\":\"…\"}, in order."
        })
final class RenderCommand extends Subcommand {

    @Option(
            names = "--model",
            required = true,
            paramLabel = "DIR",
            description = "Folder with tokenizer.json and tokenizer_config.json; weights are not needed.")
    private Path model;

    @Option(
            names = "--input",
            defaultValue = "-",
            paramLabel = "FILE",
            description = "JSON lines (default: -, which is standard input).")
    private Path input;

    @Mixin
    private TemplateOptions template;

    @Override
    ObjectNode run(Console console) throws IOException {
        ModelArguments.requireTokenizer(model);
        int rows = 0;
        int errors = 0;
        try (Tokenizer opened = Tokenizer.load(model);
                ChatTokenizer tokenizer = template.chat(model, opened);
                JsonLines lines = JsonLines.open(input)) {
            while (lines.next()) {
                ObjectNode rendered = render(lines, tokenizer);
                errors += rendered.has("error") ? 1 : 0;
                rows++;
                console.data(rendered.toString());
            }
        }
        return object().put("rows", rows).put("errors", errors);
    }

    /** One conversation; whatever is wrong with it is its own error and nobody else's. */
    private static ObjectNode render(JsonLines lines, ChatTokenizer tokenizer) {
        try {
            ObjectNode request = lines.object();
            ChatPrompt prompt = ChatRequest.read(request).encode(tokenizer, generationPrompt(request));
            ObjectNode answer = object().put("text", prompt.text());
            TokenIds.put(answer, "ids", prompt.ids());
            return answer;
        } catch (RuntimeException e) {
            return object().put("error", lines.place() + ": " + FailureMessage.of(e));
        }
    }

    private static GenerationPrompt generationPrompt(ObjectNode request) {
        boolean add = request.path("add_generation_prompt").asBoolean(false);
        boolean goOn = request.path("continue_final_message").asBoolean(false);
        if (add && goOn) {
            throw new IllegalArgumentException(
                    "Invalid conversation: add_generation_prompt and continue_final_message exclude each other");
        }
        return add ? GenerationPrompt.ADD : goOn ? GenerationPrompt.CONTINUE_FINAL_MESSAGE : GenerationPrompt.NONE;
    }
}
