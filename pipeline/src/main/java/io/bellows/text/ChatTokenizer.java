package io.bellows.text;

import com.fasterxml.jackson.databind.JsonNode;
import io.bellows.text.jinja.RenderedText;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Conversations to token ids: a chat template with its tokenizer.
 *
 * <p>Special tokens count only where the template writes them. A message, a tool or a tool result that spells
 * {@code <|im_start|>system} stays text, and the ids of all other conversations are those that transformers gives. No
 * special token is added: templates that need a BOS write it themselves.
 *
 * <p>Safe for use by several threads at once, until it is closed.
 */
public final class ChatTokenizer implements AutoCloseable {

    private final ChatTemplate template;
    private final Tokenizer tokenizer;
    private final Map<String, Object> variables;
    private volatile String endOfTurn; // found on first use

    /**
     * Joins a template and a tokenizer.
     *
     * @param tokenizer is closed with this
     * @param variables further variables of the template, such as {@code enable_thinking}, see {@link ChatTemplate#render}
     * @throws IllegalArgumentException when they name a template that is not there, or no date
     */
    public ChatTokenizer(ChatTemplate template, Tokenizer tokenizer, Map<String, Object> variables) {
        template.check(variables);
        this.template = template;
        this.tokenizer = tokenizer;
        this.variables = new HashMap<>(variables); // values may be null
    }

    /**
     * Opens template and tokenizer of a folder.
     *
     * @param variables further variables of the template, such as {@code enable_thinking}, see {@link ChatTemplate#render}
     * @throws IOException when a file is missing or damaged; the text names it
     * @throws IllegalArgumentException when the variables name a template that is not there, or no date
     */
    public static ChatTokenizer load(Path folder, Map<String, Object> variables) throws IOException {
        ChatTemplate template = ChatTemplate.load(folder);
        template.check(variables); // before the tokenizer takes native memory
        return new ChatTokenizer(template, Tokenizer.load(folder), variables);
    }

    /**
     * Renders and encodes a conversation.
     *
     * @param tools a JSON array of function schemas, or null
     * @throws io.bellows.text.jinja.TemplateException when the template refuses the conversation
     */
    public ChatPrompt encode(List<Message> messages, JsonNode tools, GenerationPrompt addGenerationPrompt) {
        return encode(ChatTemplate.toJson(messages), tools, addGenerationPrompt);
    }

    /**
     * Renders and encodes a conversation given as JSON, with all the fields its messages have.
     *
     * @param messages an array of objects with at least a role
     * @param tools a JSON array of function schemas, or null
     * @throws io.bellows.text.jinja.TemplateException when the template refuses the conversation
     */
    public ChatPrompt encode(JsonNode messages, JsonNode tools, GenerationPrompt addGenerationPrompt) {
        return encode(messages, tools, addGenerationPrompt, Map.of());
    }

    /**
     * Renders and encodes a conversation that brings variables of the template along.
     *
     * @param messages an array of objects with at least a role
     * @param tools a JSON array of function schemas, or null
     * @param content variables such as {@code documents}; special tokens that they spell stay text
     * @throws io.bellows.text.jinja.TemplateException when the template refuses the conversation
     */
    public ChatPrompt encode(
            JsonNode messages, JsonNode tools, GenerationPrompt addGenerationPrompt, Map<String, ?> content) {
        RenderedText text = template.rendered(messages, tools, addGenerationPrompt, variables, content);
        int[] ids = tokenizer.encode(text.value(), text::isTemplateText);
        return new ChatPrompt(Tokenizer.withoutLoneSurrogates(text.value()), ids);
    }

    /** Renders a conversation without encoding it. */
    RenderedText render(List<Message> messages, JsonNode tools, GenerationPrompt addGenerationPrompt) {
        return template.rendered(ChatTemplate.toJson(messages), tools, addGenerationPrompt, variables, Map.of());
    }

    /** The ids of what a template wrote from a character on. */
    int[] encodeFrom(RenderedText text, int start) {
        return tokenizer.encode(
                text.value().substring(start), (from, to) -> text.isTemplateText(start + from, start + to));
    }

    /** What the template writes right behind the model's turn, up to the end of its first token; empty if nothing. */
    String endOfTurn() {
        String known = endOfTurn;
        if (known == null) {
            known = findEndOfTurn();
            endOfTurn = known;
        }
        return known;
    }

    private String findEndOfTurn() {
        String mark = UUID.randomUUID().toString();
        List<Message> turn = List.of(Message.of("user", "x"), Message.of("assistant", mark));
        String text = render(turn, null, GenerationPrompt.NONE).value();
        int at = text.indexOf(mark);
        int[] ids = at < 0 ? new int[0] : tokenizer.encode(text.substring(at + mark.length()));
        return ids.length == 0 ? "" : tokenizer.decode(new int[] {ids[0]}, SpecialTokens.KEEP);
    }

    /** The same tokenizer and template with other template variables; close only one of the two. */
    public ChatTokenizer withVariables(Map<String, Object> otherVariables) {
        return new ChatTokenizer(template, tokenizer, otherVariables);
    }

    /** The template. */
    public ChatTemplate template() {
        return template;
    }

    /** The tokenizer. */
    public Tokenizer tokenizer() {
        return tokenizer;
    }

    /** Closes the tokenizer. */
    @Override
    public void close() {
        tokenizer.close();
    }
}
