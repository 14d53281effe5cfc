package io.bellows.data;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;

/** JSON as datasets have it: strict about structure, exact about numbers, tolerant of Python's NaN. */
final class RowJson {

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
            .build();

    private RowJson() {}

    /**
     * Reads one value.
     *
     * @throws IllegalArgumentException saying what is wrong and at which column
     */
    static JsonNode parse(String text) {
        try {
            return JSON.readTree(text);
        } catch (JsonProcessingException e) {
            String place =
                    e.getLocation() == null ? "" : " (column " + e.getLocation().getColumnNr() + ")";
            throw new IllegalArgumentException("not JSON: " + firstLine(e.getOriginalMessage()) + place, e);
        }
    }

    /** A row: one JSON object. */
    static ObjectNode parseRow(String text) {
        JsonNode node = parse(text);
        if (node instanceof ObjectNode object) {
            return object;
        }
        throw new IllegalArgumentException("a row must be a JSON object, this is " + shortened(text));
    }

    /** A copy without null fields, at any depth; nulls inside arrays stay, they hold a place. */
    static JsonNode withoutNulls(JsonNode node) {
        if (node instanceof ObjectNode object) {
            ObjectNode copy = object.objectNode();
            object.properties().forEach(field -> {
                if (!field.getValue().isNull()) {
                    copy.set(field.getKey(), withoutNulls(field.getValue()));
                }
            });
            return copy;
        }
        if (node instanceof ArrayNode array) {
            ArrayNode copy = array.arrayNode();
            array.forEach(element -> copy.add(withoutNulls(element)));
            return copy;
        }
        return node;
    }

    /** A text as itself, anything else as JSON; null for null. */
    static String textView(JsonNode node) {
        return node == null || node.isNull() ? null : node.isTextual() ? node.textValue() : node.toString();
    }

    /** Names of the fields, in order. */
    static List<String> fields(ObjectNode node) {
        List<String> names = new ArrayList<>();
        node.fieldNames().forEachRemaining(names::add);
        return names;
    }

    static String shortened(String text) {
        return text.length() <= 80 ? text : text.substring(0, 77) + "...";
    }

    private static String firstLine(String text) {
        return text.lines().findFirst().orElse("");
    }
}
