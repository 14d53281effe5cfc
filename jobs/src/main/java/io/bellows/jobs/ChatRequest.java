package io.bellows.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.text.ChatPrompt;
import io.bellows.text.ChatTokenizer;
import io.bellows.text.GenerationPrompt;
import io.bellows.text.Message;
import java.util.HashMap;
import java.util.Map;

/**
 * A conversation in a line of JSON: {@code messages}, {@code tools} and {@code chat_template_kwargs}.
 *
 * @param messages checked, with all the fields they came with
 * @param tools function schemas, or null
 * @param variables of the template; they are content, unlike those of the command line
 */
record ChatRequest(ArrayNode messages, JsonNode tools, Map<String, JsonNode> variables) {

    /**
     * Reads a conversation.
     *
     * @throws IllegalArgumentException saying what is wrong with it
     */
    static ChatRequest read(ObjectNode line) {
        JsonNode given = line.path("messages");
        if (!given.isArray()) {
            throw new IllegalArgumentException("Invalid conversation: messages must be a list of {role, content}");
        }
        ArrayNode messages = JsonNodeFactory.instance.arrayNode(given.size());
        given.forEach(message -> messages.add(message(message)));
        return new ChatRequest(messages, tools(line.path("tools")), variables(line.path("chat_template_kwargs")));
    }

    ChatPrompt encode(ChatTokenizer tokenizer, GenerationPrompt generationPrompt) {
        return tokenizer.encode(messages, tools, generationPrompt, variables);
    }

    /** Some templates read fields of their own, such as reasoning_content, and tell absent content from null. */
    private static ObjectNode message(JsonNode given) {
        ObjectNode message = Message.fromJson(given).toJson();
        if (!given.has("content")) {
            message.remove("content");
        }
        given.properties().forEach(field -> message.putIfAbsent(field.getKey(), field.getValue()));
        return message;
    }

    private static JsonNode tools(JsonNode tools) {
        if (tools.isMissingNode() || tools.isNull()) {
            return null;
        }
        for (JsonNode tool : tools) {
            if (!tool.isObject()) {
                throw new IllegalArgumentException("Invalid tools: each must be a function schema, an object");
            }
        }
        if (!tools.isArray()) {
            throw new IllegalArgumentException("Invalid tools: expected a list of function schemas");
        }
        return tools;
    }

    private static Map<String, JsonNode> variables(JsonNode kwargs) {
        if (!kwargs.isMissingNode() && !kwargs.isNull() && !kwargs.isObject()) {
            throw new IllegalArgumentException(
                    "Invalid chat_template_kwargs: expected an object such as {\"enable_thinking\": false}");
        }
        Map<String, JsonNode> variables = new HashMap<>();
        kwargs.properties().forEach(field -> variables.put(field.getKey(), field.getValue()));
        return variables;
    }
}
