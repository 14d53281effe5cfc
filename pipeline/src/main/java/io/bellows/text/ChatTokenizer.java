package io.bellows.text;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Conversations to token ids: a chat template with its tokenizer. */
public final class ChatTokenizer implements AutoCloseable {

    private final ChatTemplate template;
    private final Tokenizer tokenizer;
    private final Map<String, Object> variables;

    /** Owns the tokenizer: closing this closes it. */
    public ChatTokenizer(ChatTemplate template, Tokenizer tokenizer, Map<String, Object> variables) {
        this.template = template;
        this.tokenizer = tokenizer;
        this.variables = Map.copyOf(variables);
    }

    /** Opens template and tokenizer of a folder; {@code variables} are extra template variables, such as enable_thinking. */
    public static ChatTokenizer load(Path folder, Map<String, Object> variables) throws IOException {
        return new ChatTokenizer(ChatTemplate.load(folder), Tokenizer.load(folder), variables);
    }

    /** Renders and encodes a conversation; {@code tools} is a JSON array of function schemas or null. */
    public ChatPrompt encode(List<Message> messages, JsonNode tools, GenerationPrompt addGenerationPrompt) {
        String text = template.render(messages, tools, addGenerationPrompt, variables);
        return new ChatPrompt(text, tokenizer.encode(text));
    }

    /** The tokenizer. */
    public Tokenizer tokenizer() {
        return tokenizer;
    }

    @Override
    public void close() {
        tokenizer.close();
    }
}
