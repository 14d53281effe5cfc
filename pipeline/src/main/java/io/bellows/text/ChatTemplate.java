package io.bellows.text;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.bellows.text.jinja.JinjaTemplate;
import io.bellows.text.jinja.RenderedText;
import io.bellows.text.jinja.TemplateException;
import io.bellows.text.jinja.TrustedText;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * The chat template of a Hugging Face folder: writes a conversation the way the model was trained to read it, as
 * {@code apply_chat_template} of transformers does.
 *
 * <p>Safe for use by several threads at once.
 */
public final class ChatTemplate {

    /** Without the final blank, a template that trims content can be told from one that does not. */
    private static final String MARK_END = " ";

    private final Map<String, JinjaTemplate> templates;
    private final Map<String, Object> specialTokens;

    private ChatTemplate(Map<String, JinjaTemplate> templates, Map<String, Object> specialTokens) {
        this.templates = templates;
        this.specialTokens = specialTokens;
    }

    /**
     * Reads the template of a folder, from chat_template.jinja or tokenizer_config.json. Of several named templates the
     * one called {@code tool_use} serves conversations with tools, the one called {@code default} all others.
     *
     * @throws IOException when the folder has no template, or one that cannot be used; the text names file and line
     */
    public static ChatTemplate load(Path folder) throws IOException {
        Map<String, JinjaTemplate> templates = new LinkedHashMap<>();
        for (Map.Entry<String, TemplateFiles.Source> entry :
                TemplateFiles.read(folder).entrySet()) {
            TemplateFiles.Source source = entry.getValue();
            try {
                templates.put(entry.getKey(), JinjaTemplate.parse(source.text()));
            } catch (TemplateException e) {
                throw new IOException("Cannot use the chat template of " + source.file() + ": " + e.getMessage(), e);
            }
        }
        TokenizerFiles files = TokenizerFiles.readConfig(folder);
        Map<String, Object> specialTokens = new LinkedHashMap<>(files.namedTokens());
        specialTokens.put("additional_special_tokens", List.copyOf(files.additionalSpecialTokens()));
        return new ChatTemplate(templates, specialTokens);
    }

    /**
     * Renders a conversation.
     *
     * @param tools a JSON array of function schemas, or null
     * @param variables further variables of the template, such as {@code enable_thinking}
     * @throws TemplateException when the template refuses the conversation or cannot be rendered
     */
    public String render(
            List<Message> messages,
            JsonNode tools,
            GenerationPrompt addGenerationPrompt,
            Map<String, Object> variables) {
        return rendered(toJson(messages), tools, addGenerationPrompt, variables).value();
    }

    /**
     * Renders a conversation given as JSON, with all the fields its messages have.
     *
     * @param messages an array of objects with at least a role
     * @param tools a JSON array of function schemas, or null
     * @param variables further variables of the template
     * @throws TemplateException when the template refuses the conversation or cannot be rendered
     */
    public String render(
            JsonNode messages, JsonNode tools, GenerationPrompt addGenerationPrompt, Map<String, Object> variables) {
        return rendered(messages, tools, addGenerationPrompt, variables).value();
    }

    static ArrayNode toJson(List<Message> messages) {
        ArrayNode array = JsonNodeFactory.instance.arrayNode(messages.size());
        messages.forEach(message -> array.add(message.toJson()));
        return array;
    }

    RenderedText rendered(
            JsonNode messages, JsonNode tools, GenerationPrompt addGenerationPrompt, Map<String, Object> variables) {
        List<Map<String, Object>> conversation = conversation(messages);
        if (addGenerationPrompt != GenerationPrompt.CONTINUE_FINAL_MESSAGE) {
            boolean add = addGenerationPrompt == GenerationPrompt.ADD;
            return rendered(conversation, tools, add, variables);
        }
        String mark = UUID.randomUUID().toString();
        String content = finalContent(conversation);
        conversation.get(conversation.size() - 1).put("content", content + mark + MARK_END);
        return upTo(mark, rendered(conversation, tools, false, variables));
    }

    private RenderedText rendered(
            List<Map<String, Object>> conversation, JsonNode tools, boolean add, Map<String, Object> variables) {
        boolean hasTools = tools != null && !tools.isNull() && !tools.isMissingNode();
        Map<String, Object> trusted = new HashMap<>(specialTokens);
        trusted.put("documents", null);
        trusted.putAll(variables);
        trusted.put("add_generation_prompt", add);
        Map<String, Object> content = new HashMap<>();
        content.put("messages", conversation);
        content.put("tools", hasTools ? tools : null);
        return template(hasTools).render(content, trusted);
    }

    private JinjaTemplate template(boolean hasTools) {
        JinjaTemplate toolUse = hasTools ? templates.get("tool_use") : null;
        JinjaTemplate chosen = toolUse != null ? toolUse : templates.get("default");
        if (chosen == null) {
            throw new IllegalStateException("Cannot choose among the chat templates " + templates.keySet()
                    + ": none is called 'default'; keep the one to use as chat_template.jinja");
        }
        return chosen;
    }

    private static List<Map<String, Object>> conversation(JsonNode messages) {
        if (!messages.isArray()) {
            throw new IllegalArgumentException("Invalid messages: expected an array of objects with role and content");
        }
        List<Map<String, Object>> conversation = new ArrayList<>(messages.size());
        for (JsonNode message : messages) {
            if (!message.isObject()) {
                throw new IllegalArgumentException(
                        "Invalid message " + conversation.size() + ": expected an object with role and content");
            }
            Map<String, Object> fields = new LinkedHashMap<>();
            message.properties().forEach(field -> fields.put(field.getKey(), field.getValue()));
            String role = message.path("role").asText();
            if (isPlainWord(role)) {
                // Some templates build the name of a special token around the role.
                fields.put("role", new TrustedText(role));
            }
            conversation.add(fields);
        }
        return conversation;
    }

    private static boolean isPlainWord(String role) {
        return !role.isEmpty()
                && role.chars().allMatch(c -> (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_');
    }

    private static String finalContent(List<Map<String, Object>> conversation) {
        Object content = conversation.isEmpty()
                ? null
                : conversation.get(conversation.size() - 1).get("content");
        if (content instanceof JsonNode text && text.isTextual()) {
            return text.textValue();
        }
        throw new IllegalArgumentException(
                "Cannot continue the final message: it has no text; add a generation prompt instead");
    }

    /** What was rendered before the mark; a template that trims content has left no blanks there either. */
    private static RenderedText upTo(String mark, RenderedText text) {
        int at = text.value().lastIndexOf(mark);
        if (at < 0) {
            throw new IllegalArgumentException(
                    "Cannot continue the final message: the chat template does not write its content last");
        }
        boolean trimmed = !text.value().startsWith(MARK_END, at + mark.length());
        return text.prefix(
                trimmed ? text.value().substring(0, at).stripTrailing().length() : at);
    }
}
