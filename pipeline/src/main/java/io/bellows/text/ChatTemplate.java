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
import java.time.Clock;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
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

    /** The variable that chooses among several templates by name, as the argument of transformers does. */
    private static final String NAME = "chat_template";

    /** The variable that gives {@code strftime_now} a date, so that a text does not depend on the day it is made. */
    private static final String DATE = "strftime_now";

    /** Without the final blank, a template that trims content can be told from one that does not. */
    private static final String MARK_END = " ";

    private final Map<String, JinjaTemplate> templates;
    private final Map<String, Object> specialTokens;
    private final boolean readsDate;

    private ChatTemplate(Map<String, JinjaTemplate> templates, Map<String, Object> specialTokens, boolean readsDate) {
        this.templates = templates;
        this.specialTokens = specialTokens;
        this.readsDate = readsDate;
    }

    /**
     * Reads the templates of a folder: chat_template.jinja and additional_chat_templates/NAME.jinja, or where there are no
     * such files {@code chat_template} of tokenizer_config.json. Of several the one called {@code tool_use} serves
     * conversations with tools, the one called {@code default} all others; the variable {@code chat_template} names
     * another.
     *
     * @throws IOException when the folder has no template, or one that cannot be used; the text names file and line
     */
    public static ChatTemplate load(Path folder) throws IOException {
        Map<String, JinjaTemplate> templates = new LinkedHashMap<>();
        boolean readsDate = false;
        for (Map.Entry<String, TemplateFiles.Source> entry :
                TemplateFiles.read(folder).entrySet()) {
            TemplateFiles.Source source = entry.getValue();
            readsDate |= source.text().contains(DATE);
            try {
                templates.put(entry.getKey(), JinjaTemplate.parse(source.text()));
            } catch (TemplateException e) {
                throw new IOException("Cannot use the chat template of " + source.file() + ": " + e.getMessage(), e);
            }
        }
        TokenizerFiles files = TokenizerFiles.readConfig(folder);
        Map<String, Object> specialTokens = new LinkedHashMap<>(files.namedTokens());
        specialTokens.put("additional_special_tokens", List.copyOf(files.additionalSpecialTokens()));
        return new ChatTemplate(templates, specialTokens, readsDate);
    }

    /**
     * Renders a conversation.
     *
     * @param tools a JSON array of function schemas, or null
     * @param variables further variables of the template, such as {@code enable_thinking}; two are not the template's:
     *     {@code chat_template}, the name of the template to use, and {@code strftime_now}, the date that the function of
     *     that name tells, such as {@code 2024-07-26}
     * @throws TemplateException when the template refuses the conversation or cannot be rendered
     */
    public String render(
            List<Message> messages,
            JsonNode tools,
            GenerationPrompt addGenerationPrompt,
            Map<String, Object> variables) {
        return render(toJson(messages), tools, addGenerationPrompt, variables);
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
        return rendered(messages, tools, addGenerationPrompt, variables, Map.of())
                .value();
    }

    static ArrayNode toJson(List<Message> messages) {
        ArrayNode array = JsonNodeFactory.instance.arrayNode(messages.size());
        messages.forEach(message -> array.add(message.toJson()));
        return array;
    }

    /**
     * Checks the variables that are not the template's own.
     *
     * @throws IllegalArgumentException when they name a template that is not there, or no date
     */
    public void check(Map<String, ?> variables) {
        if (variables.get(NAME) != null) {
            named(variables.get(NAME).toString());
        }
        clock(variables.get(DATE));
    }

    /** Whether texts may depend on the day they are made: a template asks for the date and {@code variables} give none. */
    public boolean readsToday(Map<String, ?> variables) {
        return readsDate && variables.get(DATE) == null;
    }

    /** Renders with {@code variables}, which count as the template's own text, and {@code content}, which does not. */
    RenderedText rendered(
            JsonNode messages,
            JsonNode tools,
            GenerationPrompt addGenerationPrompt,
            Map<String, ?> variables,
            Map<String, ?> content) {
        List<Map<String, Object>> conversation = conversation(messages);
        boolean goOn = addGenerationPrompt == GenerationPrompt.CONTINUE_FINAL_MESSAGE;
        String mark = UUID.randomUUID().toString();
        if (goOn) {
            String text = finalContent(conversation);
            conversation.get(conversation.size() - 1).put("content", text + mark + MARK_END);
        }
        Map<String, Object> given = new HashMap<>(content);
        given.put("messages", conversation);
        given.put("tools", isGiven(tools) ? tools : null);
        Map<String, Object> trusted = new HashMap<>(specialTokens);
        trusted.put("documents", null);
        trusted.putAll(variables);
        trusted.put("add_generation_prompt", addGenerationPrompt == GenerationPrompt.ADD);
        Object name = trusted.remove(NAME);
        Clock clock = clock(trusted.remove(DATE));
        JinjaTemplate template = name == null ? standard(tools) : named(name.toString());
        RenderedText text = clock == null ? template.render(given, trusted) : template.render(given, trusted, clock);
        return goOn ? upTo(mark, text) : text;
    }

    private JinjaTemplate standard(JsonNode tools) {
        return named(isGiven(tools) && templates.containsKey("tool_use") ? "tool_use" : "default");
    }

    private static boolean isGiven(JsonNode tools) {
        return tools != null && !tools.isNull() && !tools.isMissingNode();
    }

    private JinjaTemplate named(String name) {
        JinjaTemplate template = templates.get(name);
        if (template == null) {
            throw new IllegalArgumentException("Cannot find the chat template '" + name + "': the model folder has "
                    + templates.keySet() + "; name one of these with the template variable chat_template");
        }
        return template;
    }

    /** A clock that stands still on a date; null for the system's. */
    private static Clock clock(Object date) {
        if (date == null) {
            return null;
        }
        String text = date instanceof JsonNode node ? node.asText() : date.toString();
        try {
            LocalDate day = LocalDate.parse(text);
            return Clock.fixed(day.atStartOfDay(ZoneOffset.UTC).toInstant(), ZoneOffset.UTC);
        } catch (DateTimeParseException e) {
            throw new IllegalArgumentException(
                    "Invalid template variable strftime_now: '" + text + "' is no date; write it like 2024-07-26", e);
        }
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
