package io.bellows.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.text.ChatPrompt;
import io.bellows.text.ChatTokenizer;
import io.bellows.text.GenerationPrompt;
import io.bellows.text.Message;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "render",
        description = {
            "Renders conversations with a model's chat template, as JSON lines.",
            "In:  {\"messages\":[…],\"tools\":[…],\"add_generation_prompt\":true}",
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
            description = "JSON lines; - is standard input.")
    private Path input;

    @Override
    ObjectNode run(Console console) throws IOException {
        ModelArguments.requireTokenizer(model);
        int rows = 0;
        int errors = 0;
        try (JsonLines lines = JsonLines.open(input);
                ChatTokenizer tokenizer = ChatTokenizer.load(model, Map.of())) {
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
            ChatPrompt prompt = tokenizer.encode(messages(request), tools(request), generationPrompt(request));
            ObjectNode answer = object().put("text", prompt.text());
            TokenIds.put(answer, "ids", prompt.ids());
            return answer;
        } catch (RuntimeException e) {
            return object().put("error", lines.place() + ": " + Failures.message(e));
        }
    }

    private static List<Message> messages(ObjectNode request) {
        JsonNode given = request.get("messages");
        if (given == null || !given.isArray()) {
            throw new IllegalArgumentException("Invalid conversation: messages must be a list of {role, content}");
        }
        List<Message> messages = new ArrayList<>();
        given.forEach(message -> messages.add(Message.fromJson(message)));
        return messages;
    }

    private static JsonNode tools(ObjectNode request) {
        JsonNode tools = request.get("tools");
        return tools == null || tools.isNull() ? null : tools;
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
