package io.bellows.text.jinja;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Turns JSON and plain Java values into values of the interpreter. */
final class Values {

    private static final int MAX_DEPTH = 100;

    private final Function<String, Text> text;

    private Values(Function<String, Text> text) {
        this.text = text;
    }

    /** Values whose strings are content. */
    static Object ofContent(Object value) {
        return new Values(Text::ofContent).convert(value, 0);
    }

    /** Values whose strings are as good as the template's own. */
    static Object of(Object value) {
        return new Values(Text::of).convert(value, 0);
    }

    private Object convert(Object value, int depth) {
        if (depth > MAX_DEPTH) {
            throw new IllegalArgumentException(
                    "Invalid variable of a chat template: it nests more than " + MAX_DEPTH + " deep");
        }
        if (value == null) {
            return None.NONE;
        }
        if (value instanceof JsonNode node) {
            return json(node, depth);
        }
        if (value instanceof TrustedText trusted) {
            return Text.of(trusted.value());
        }
        if (value instanceof CharSequence characters) {
            return text.apply(characters.toString());
        }
        if (value instanceof Boolean || value instanceof Long || value instanceof Double) {
            return value;
        }
        if (value instanceof Integer || value instanceof Short || value instanceof Byte) {
            return ((Number) value).longValue();
        }
        if (value instanceof Float number) {
            return number.doubleValue();
        }
        if (value instanceof BigInteger number) {
            return integer(number);
        }
        if (value instanceof Map<?, ?> map) {
            Map<Object, Object> dict = new LinkedHashMap<>();
            map.forEach((key, item) -> dict.put(text.apply(String.valueOf(key)), convert(item, depth + 1)));
            return dict;
        }
        if (value instanceof Iterable<?> items) {
            List<Object> list = new ArrayList<>();
            items.forEach(item -> list.add(convert(item, depth + 1)));
            return list;
        }
        throw new IllegalArgumentException("Unsupported variable of a chat template: a "
                + value.getClass().getName() + "; give text, numbers, truth values, lists and maps");
    }

    private Object json(JsonNode node, int depth) {
        return switch (node.getNodeType()) {
            case OBJECT -> {
                Map<Object, Object> dict = new LinkedHashMap<>();
                node.properties()
                        .forEach(entry -> dict.put(text.apply(entry.getKey()), convert(entry.getValue(), depth + 1)));
                yield dict;
            }
            case ARRAY -> {
                List<Object> list = new ArrayList<>(node.size());
                node.forEach(item -> list.add(convert(item, depth + 1)));
                yield list;
            }
            case STRING -> text.apply(node.textValue());
            case BOOLEAN -> node.booleanValue();
            case NUMBER -> node.isIntegralNumber() ? integer(node.bigIntegerValue()) : (Object) node.doubleValue();
            case NULL, MISSING -> None.NONE;
            default ->
                throw new IllegalArgumentException(
                        "Unsupported variable of a chat template: JSON of type " + node.getNodeType());
        };
    }

    private static Object integer(BigInteger number) {
        return number.bitLength() < Long.SIZE ? (Object) number.longValue() : number;
    }
}
