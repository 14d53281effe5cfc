package io.bellows.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.text.ChatTokenizer;
import io.bellows.text.GenerationPrompt;
import io.bellows.text.Message;
import io.bellows.text.Tokenizer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;

/** The prompts of {@code bellows generate}: on the command line, or as JSON lines. */
final class PromptOptions {

    @ArgGroup(multiplicity = "1")
    private Source source;

    @Option(names = "--system", paramLabel = "TEXT", description = "System message put before --prompt.")
    private String system;

    @Option(
            names = "--raw",
            description = "Encode the prompt as it is, without the chat template; the tokenizer's BOS comes first.")
    private boolean raw;

    static final class Source {
        @Option(names = "--prompt", paramLabel = "TEXT", description = "What the user says; may be repeated.")
        private List<String> prompts;

        @Option(
                names = "--input",
                paramLabel = "FILE",
                description = "JSON lines, each with prompt, messages or ids; - is standard input.")
        private Path input;
    }

    private ChatTokenizer chat;

    /** Opens the chat template, which a folder need not have as long as no prompt asks for it. */
    interface ChatSource {
        ChatTokenizer open() throws IOException;
    }

    /**
     * The prompts as token ids.
     *
     * @param template opened for the first prompt that needs it
     * @param vocabularySize ids are below it
     * @param positions most tokens that the model takes, prompt and answer together
     * @param answer tokens that a prompt must leave for its answer
     * @throws UsageException naming every prompt that is wrong
     */
    List<int[]> read(Tokenizer tokenizer, ChatSource template, int vocabularySize, int positions, int answer)
            throws IOException {
        List<int[]> prompts = new ArrayList<>();
        List<String> errors = new ArrayList<>();
        Room room = new Room(positions, answer);
        if (source.prompts != null) {
            for (String prompt : source.prompts) {
                collect(prompts, errors, room, "--prompt", () -> encode(tokenizer, template, prompt));
            }
        } else {
            try (JsonLines lines = JsonLines.open(source.input)) {
                while (lines.next()) {
                    collect(
                            prompts,
                            errors,
                            room,
                            lines.place(),
                            () -> encode(tokenizer, template, lines.object(), vocabularySize));
                }
            }
        }
        if (prompts.isEmpty() && errors.isEmpty()) {
            errors.add("Invalid --input " + source.input + ": it has no line");
        }
        if (!errors.isEmpty()) {
            throw new UsageException(errors);
        }
        return prompts;
    }

    private interface Encoding {
        int[] ids() throws IOException;
    }

    private record Room(int positions, int answer) {
        void check(int[] ids) {
            if (ids.length == 0) {
                throw new IllegalArgumentException("Invalid prompt: it has no token");
            }
            if (ids.length > positions - answer) {
                throw new IllegalArgumentException("Invalid prompt: its " + ids.length + " tokens and " + answer
                        + " of the answer exceed the " + positions
                        + " positions of the model; give a shorter prompt or a smaller --max-tokens");
            }
        }
    }

    private static void collect(List<int[]> prompts, List<String> errors, Room room, String place, Encoding encoding)
            throws IOException {
        try {
            int[] ids = encoding.ids();
            room.check(ids);
            prompts.add(ids);
        } catch (IllegalArgumentException e) {
            errors.add(place + ": " + e.getMessage());
        }
    }

    private int[] encode(Tokenizer tokenizer, ChatSource template, String prompt) throws IOException {
        if (raw) {
            return tokenizer.encodePrompt(prompt);
        }
        List<Message> messages = new ArrayList<>();
        if (system != null) {
            messages.add(Message.of("system", system));
        }
        messages.add(Message.of("user", prompt));
        return chat(template).encode(messages, null, GenerationPrompt.ADD).ids();
    }

    private int[] encode(Tokenizer tokenizer, ChatSource template, ObjectNode line, int vocabularySize)
            throws IOException {
        if (line.path("prompt").isTextual()) {
            return encode(tokenizer, template, line.get("prompt").textValue());
        }
        if (line.path("ids").isArray()) {
            return TokenIds.read(line.get("ids"), vocabularySize);
        }
        if (line.path("messages").isArray()) {
            return ChatRequest.read(line)
                    .encode(chat(template), GenerationPrompt.ADD)
                    .ids();
        }
        throw new IllegalArgumentException("Invalid line " + line + ": give prompt, messages or ids");
    }

    private ChatTokenizer chat(ChatSource template) throws IOException {
        if (chat == null) {
            chat = template.open();
        }
        return chat;
    }
}
