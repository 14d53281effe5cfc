package io.bellows.serving;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.engine.FinishReason;
import io.bellows.text.toolcall.ParsedTurn;
import io.bellows.text.toolcall.ToolCall;
import io.bellows.text.toolcall.ToolCallFormat;
import io.bellows.text.toolcall.TurnEnd;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * The tools that a request offers to the model.
 *
 * @param format how the model writes calls
 * @param schemas OpenAI function schemas, one or more
 */
record OfferedTools(ToolCallFormat format, List<ObjectNode> schemas) {

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .build();

    /**
     * Reads {@code tools} and {@code tool_choice}; null when the model may not call any.
     *
     * @throws ApiException when they are malformed or ask for what is not implemented
     */
    static OfferedTools read(RequestBody body, ToolCallFormat format) {
        body.refuse(
                "tool_choice",
                choice -> choice.asText().equals("auto") || choice.asText().equals("none"));
        body.refuse("parallel_tool_calls", JsonNode::asBoolean);
        body.refuse("functions", JsonNode::isEmpty);
        if (!body.has("tools") || body.text("tool_choice", "auto").equals("none")) {
            return null;
        }
        List<ObjectNode> schemas = new ArrayList<>();
        if (!body.node("tools").isArray()) {
            throw invalid(body.node("tools"));
        }
        for (JsonNode tool : body.node("tools")) {
            if (!(tool instanceof ObjectNode schema)
                    || !schema.path("type").asText().equals("function")
                    || schema.path("function").path("name").asText().isEmpty()) {
                throw invalid(tool);
            }
            schemas.add(schema);
        }
        return schemas.isEmpty() ? null : new OfferedTools(format, List.copyOf(schemas));
    }

    /** A message whose calls have their arguments as objects, which chat templates write out as JSON; the protocol has them as text. */
    static ObjectNode forTemplate(ObjectNode message) {
        for (JsonNode call : message.path("tool_calls")) {
            if (call.path("function") instanceof ObjectNode function
                    && function.path("arguments").isTextual()) {
                try {
                    function.set(
                            "arguments", JSON.readTree(function.get("arguments").textValue()));
                } catch (JsonProcessingException e) {
                    // A call that was not finished stays as it was written.
                }
            }
        }
        return message;
    }

    /** The schemas as the chat template takes them. */
    ArrayNode json() {
        return JsonNodeFactory.instance.arrayNode().addAll(schemas);
    }

    /** An answer taken apart; a call that cannot be read stays in its content. */
    ParsedTurn parse(Answer answer) {
        boolean ended = answer.generation().finishReason() == FinishReason.STOP;
        return format.parser(schemas).parse(answer.textWithSpecialTokens(), ended ? TurnEnd.COMPLETE : TurnEnd.CUT_OFF);
    }

    /** Adds content and calls to a message or to a piece of one. */
    static void write(ObjectNode message, ParsedTurn turn) {
        if (turn.calls().isEmpty() || !turn.content().isEmpty()) {
            message.put("content", turn.content());
        } else {
            message.putNull("content");
        }
        if (turn.calls().isEmpty()) {
            return;
        }
        ArrayNode calls = message.putArray("tool_calls");
        for (ToolCall call : turn.calls()) {
            ObjectNode node = calls.addObject()
                    .put("index", calls.size() - 1)
                    // Nine letters and digits, which is what the strictest templates take; unique beyond this request.
                    .put("id", UUID.randomUUID().toString().replace("-", "").substring(0, 9))
                    .put("type", "function");
            node.putObject("function").put("name", call.name()).put("arguments", call.arguments());
        }
    }

    private static ApiException invalid(JsonNode tools) {
        return ApiException.badRequest(
                "tools",
                "Invalid tools " + tools
                        + ": expected a list of {\"type\": \"function\", \"function\": {\"name\": …}}");
    }
}
