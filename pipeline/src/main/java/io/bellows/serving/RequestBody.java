package io.bellows.serving;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** The JSON object of a request; a field of the wrong type is an error that names it. An absent field and null are the same. */
record RequestBody(ObjectNode json) {

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    static RequestBody read(byte[] body) {
        try {
            if (JSON.readTree(body) instanceof ObjectNode object) {
                return new RequestBody(object);
            }
        } catch (JsonProcessingException e) {
            throw ApiException.badRequest(null, "Invalid request: not JSON: " + e.getOriginalMessage());
        } catch (IOException e) { // bytes that are no UTF-8
            throw ApiException.badRequest(null, "Invalid request: " + e.getMessage());
        }
        throw ApiException.badRequest(null, "Invalid request: expected a JSON object");
    }

    boolean has(String field) {
        return json.hasNonNull(field);
    }

    JsonNode node(String field) {
        return json.path(field);
    }

    String text(String field, String absent) {
        return has(field) ? checked(field, JsonNode::isTextual, "a string").textValue() : absent;
    }

    boolean flag(String field) {
        return has(field)
                && checked(field, JsonNode::isBoolean, "true or false").booleanValue();
    }

    double number(String field, double absent) {
        return has(field) ? checked(field, JsonNode::isNumber, "a number").doubleValue() : absent;
    }

    int integer(String field, int absent) {
        return has(field)
                ? checked(field, JsonNode::canConvertToExactIntegral, "an integer")
                        .intValue()
                : absent;
    }

    long seed(String field, long absent) {
        return has(field)
                ? checked(field, JsonNode::canConvertToExactIntegral, "an integer")
                        .longValue()
                : absent;
    }

    /** A string or a list of strings. */
    List<String> texts(String field) {
        List<String> texts = new ArrayList<>();
        if (has(field) && json.get(field).isTextual()) {
            texts.add(json.get(field).textValue());
        } else if (has(field)) {
            checked(field, JsonNode::isArray, "a string or a list of strings").forEach(text -> {
                if (!text.isTextual()) {
                    throw wrong(field, "a string or a list of strings");
                }
                texts.add(text.textValue());
            });
        }
        return texts;
    }

    /** Refuses what would change the answer and is not implemented; the value that changes nothing passes. */
    void refuse(String field, Predicate<JsonNode> harmless) {
        if (has(field) && !harmless.test(json.get(field))) {
            throw ApiException.badRequest(
                    field, "Unsupported " + field + " " + shown(field) + ": leave the field out of the request");
        }
    }

    private JsonNode checked(String field, Predicate<JsonNode> type, String expected) {
        if (!type.test(json.get(field))) {
            throw wrong(field, expected);
        }
        return json.get(field);
    }

    private ApiException wrong(String field, String expected) {
        return ApiException.badRequest(field, "Invalid " + field + " " + shown(field) + ": expected " + expected);
    }

    private String shown(String field) {
        String text = json.get(field).toString();
        return text.length() <= 80 ? text : text.substring(0, 77) + "...";
    }
}
