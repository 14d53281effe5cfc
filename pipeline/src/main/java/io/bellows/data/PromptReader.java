package io.bellows.data;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.text.Message;
import java.util.ArrayList;
import java.util.List;

/** Turns one row of a known layout into a prompt. */
final class PromptReader {

    /** The mark before the final answer of a worked solution, as in GSM8K. */
    static final String HASH = "####";

    private static final List<String> JSON_COLUMNS =
            List.of("info", "tools", "tool_defs", "extra_info", "reward_model", "reward_spec");

    /**
     * A prompt read.
     *
     * @param completion null when the row has none
     * @param groundTruth text view; null when the row has none
     * @param extra all other columns, with ground_truth in its own shape
     * @param tools array of function schemas, or null
     * @param flag a column that should hold JSON and does not; null when all do
     */
    record Prompt(
            String dataSource,
            List<Message> prompt,
            List<Message> completion,
            String groundTruth,
            ObjectNode extra,
            JsonNode tools,
            String flag) {}

    private final SourceFile file;
    private final Layout layout;
    private final DatasetOptions options;

    PromptReader(SourceFile file, Layout layout, DatasetOptions options) {
        this.file = file;
        this.layout = layout;
        this.options = options;
    }

    /**
     * Reads a row.
     *
     * @throws IllegalArgumentException saying why the row cannot be read
     */
    Prompt read(String text) {
        if (text.isBlank()) {
            throw new IllegalArgumentException("the line is empty");
        }
        ObjectNode raw = RowJson.parseRow(text);
        JsonText columns = new JsonText();
        ObjectNode row = columns.parsed((ObjectNode) RowJson.withoutNulls(raw), JSON_COLUMNS);
        List<Message> prompt = new ArrayList<>(messages(raw, layout.prompt(), "user", columns));
        List<Message> completion = completion(raw, prompt, columns);
        JsonNode truth = groundTruth(raw, row);
        ObjectNode extra = row.deepCopy();
        extra.remove(List.of(layout.prompt(), "__index_level_0__"));
        if (completion != null && layout.answer() == Layout.Answer.AS_IS && layout.completion() != null) {
            extra.remove(layout.completion());
        }
        if (truth != null) {
            extra.set("ground_truth", truth);
        }
        JsonNode tools = columns.schemas(row.path("tools").isArray() ? "tools" : "tool_defs", row);
        return new Prompt(
                dataSource(row), framed(prompt), completion, RowJson.textView(truth), extra, tools, columns.flag());
    }

    private List<Message> messages(ObjectNode raw, String column, String role, JsonText columns) {
        JsonNode value = required(raw, column);
        if (value.isTextual()) {
            if (value.textValue().isBlank()) {
                throw new IllegalArgumentException("'" + column + "' is empty");
            }
            return List.of(Message.of(role, value.textValue()));
        }
        if (!value.isArray() || value.isEmpty()) {
            throw new IllegalArgumentException("'" + column + "' must be a text or a list of messages, it is "
                    + RowJson.shortened(value.toString()));
        }
        List<Message> messages = new ArrayList<>();
        for (JsonNode message : value) {
            messages.add(Message.fromJson(columns.withParsedArguments(RowJson.withoutNulls(message))));
        }
        return messages;
    }

    private List<Message> completion(ObjectNode raw, List<Message> prompt, JsonText columns) {
        List<Message> completion = null;
        String column = layout.completion();
        if (column != null
                && (raw.hasNonNull(column) || options.completions() == DatasetOptions.Completions.REQUIRED)) {
            completion = messages(raw, column, "assistant", columns);
        } else if (layout.prompt().equals("messages")) {
            completion = trailingAnswer(prompt);
        }
        if (completion == null && options.completions() == DatasetOptions.Completions.REQUIRED) {
            throw new IllegalArgumentException("no completion to learn: layout " + layout.name()
                    + " has none; name its column with data.response_key (the row has " + RowJson.fields(raw) + ")");
        }
        return completion;
    }

    /** A conversation that ends with the assistant holds prompt and completion; takes the latter off {@code prompt}. */
    private static List<Message> trailingAnswer(List<Message> prompt) {
        int last = prompt.size() - 1;
        return last > 0 && prompt.get(last).role().equals("assistant") ? List.of(prompt.remove(last)) : null;
    }

    private JsonNode groundTruth(ObjectNode raw, ObjectNode row) {
        if (layout.answer() == Layout.Answer.AFTER_HASH) {
            return row.textNode(afterHash(layout.groundTruth().get(0), raw));
        }
        for (String place : layout.groundTruth()) {
            JsonNode value = row.has(place) ? row.get(place) : row.at("/" + place.replace('.', '/'));
            if (!value.isMissingNode()) {
                return value;
            }
        }
        return null;
    }

    private static String afterHash(String column, ObjectNode raw) {
        JsonNode value = required(raw, column);
        String answer = value.asText();
        int mark = answer.lastIndexOf(HASH);
        if (mark < 0) {
            throw new IllegalArgumentException(
                    "'" + column + "' has no " + HASH + " before its final answer: " + RowJson.shortened(answer));
        }
        String truth =
                answer.substring(mark + HASH.length()).lines().findFirst().orElse("");
        if (truth.isBlank()) {
            throw new IllegalArgumentException("'" + column + "' has nothing after " + HASH);
        }
        return truth.replace(",", "").strip();
    }

    private List<Message> framed(List<Message> prompt) {
        if (options.promptSuffix() != null) {
            int last = prompt.size() - 1;
            Message message = prompt.get(last);
            String content = (message.content() == null ? "" : message.content()) + options.promptSuffix();
            prompt.set(
                    last,
                    new Message(message.role(), content, message.toolCalls(), message.toolCallId(), message.name()));
        }
        if (options.systemPrompt() != null && !prompt.get(0).role().equals("system")) {
            prompt.add(0, Message.of("system", options.systemPrompt()));
        }
        return List.copyOf(prompt);
    }

    private String dataSource(ObjectNode row) {
        JsonNode named = row.path(options.dataSourceKey());
        if (named.isMissingNode() && layout.dataSource() != null) {
            named = row.path(layout.dataSource());
        }
        if (named.isValueNode()) {
            return named.asText();
        }
        return layout.defaultDataSource() != null ? layout.defaultDataSource() : file.stem();
    }

    private static JsonNode required(ObjectNode raw, String column) {
        JsonNode value = raw.get(column);
        if (value == null) {
            throw new IllegalArgumentException("key '" + column + "' is missing; the row has " + RowJson.fields(raw));
        }
        if (value.isNull()) {
            throw new IllegalArgumentException("'" + column + "' is null");
        }
        return value;
    }
}
