package io.bellows.text;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.Serializable;

/**
 * One message of a conversation, in the shape of the chat completions API.
 *
 * @param role who speaks: system, user, assistant, tool, or what else the chat template knows
 * @param content the text; null where there is none, as in an assistant message of tool calls only
 * @param toolCalls the tool calls as a JSON array, or null
 * @param toolCallId for a tool message, the call it answers; or null
 * @param name the speaker's or the tool's name, or null
 */
public record Message(String role, String content, String toolCalls, String toolCallId, String name)
        implements Serializable {

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    /** Checks that a role is given. */
    public Message {
        requireNonNull(role, "role");
    }

    /** A message of a role and a text, nothing else. */
    public static Message of(String role, String content) {
        return new Message(role, content, null, null, null);
    }

    /**
     * Reads a message of the chat completions API. Content given as a list of text parts is joined; {@code tool_calls}
     * may be an array or a string holding one; unknown fields are left out.
     *
     * @throws IllegalArgumentException when the node is no message; the text names field and value
     */
    public static Message fromJson(JsonNode node) {
        if (!node.isObject()) {
            throw new IllegalArgumentException("Invalid message " + shortened(node)
                    + ": expected an object with role and content, such as {\"role\": \"user\", \"content\": \"Hi\"}");
        }
        String role = string(node, "role");
        if (role == null) {
            throw new IllegalArgumentException(
                    "Invalid message " + shortened(node) + ": it has no role; give one such as \"user\"");
        }
        String content = content(node);
        String toolCalls = toolCalls(node);
        if (content == null && (toolCalls == null || toolCalls.equals("[]"))) {
            throw new IllegalArgumentException("Invalid message " + shortened(node)
                    + ": it has neither content nor tool_calls; an empty text is a content too");
        }
        return new Message(role, content, toolCalls, string(node, "tool_call_id"), string(node, "name"));
    }

    /** The message as an object of the chat completions API; absent fields are left out, except content. */
    public ObjectNode toJson() {
        ObjectNode node = JsonNodeFactory.instance.objectNode();
        node.put("role", role);
        node.put("content", content);
        if (toolCalls != null) {
            node.set("tool_calls", parse(toolCalls));
        }
        if (toolCallId != null) {
            node.put("tool_call_id", toolCallId);
        }
        if (name != null) {
            node.put("name", name);
        }
        return node;
    }

    private static String content(JsonNode message) {
        JsonNode content = message.get("content");
        if (content == null || !content.isArray()) {
            return string(message, "content");
        }
        StringBuilder text = new StringBuilder();
        for (JsonNode part : content) {
            if (part.isTextual()) {
                text.append(part.textValue());
            } else if (part.path("text").isTextual()
                    && part.path("type").asText("text").equals("text")) {
                text.append(part.get("text").textValue());
            } else {
                throw new IllegalArgumentException("Unsupported content part " + shortened(part)
                        + ": a message holds text only; leave such parts out of the dataset");
            }
        }
        return text.toString();
    }

    private static String toolCalls(JsonNode message) {
        JsonNode calls = message.get("tool_calls");
        if (calls == null || calls.isNull()) {
            return null;
        }
        JsonNode array = calls.isTextual() ? parse(calls.textValue()) : calls;
        if (!array.isArray()) {
            throw new IllegalArgumentException("Invalid tool_calls " + shortened(calls)
                    + ": expected an array of calls, or a string that holds one as JSON");
        }
        return array.toString();
    }

    private static JsonNode parse(String json) {
        try {
            return JSON.readTree(json);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(
                    "Invalid tool_calls " + shortened(json) + ": not JSON: " + e.getOriginalMessage(), e);
        }
    }

    private static String string(JsonNode message, String field) {
        JsonNode value = message.get(field);
        if (value == null || value.isNull()) {
            return null;
        }
        if (!value.isTextual()) {
            throw new IllegalArgumentException("Invalid " + field + " " + shortened(value)
                    + " of a message: expected a string; quote the value in the dataset");
        }
        return value.textValue();
    }

    private static String shortened(Object value) {
        String text = String.valueOf(value);
        return text.length() <= 120 ? text : text.substring(0, 117) + "...";
    }
}
