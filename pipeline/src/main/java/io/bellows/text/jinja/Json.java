package io.bellows.text.jinja;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * The filter {@code tojson} as Hugging Face defines it: Python's {@code json.dumps} without escaping of other alphabets.
 */
final class Json {

    private final boolean asciiOnly;
    private final String indent; // null: on one line
    private final String itemSeparator;
    private final String keySeparator;
    private final boolean sortKeys;
    private final TextBuilder out = new TextBuilder();

    private Json(boolean asciiOnly, String indent, String itemSeparator, String keySeparator, boolean sortKeys) {
        this.asciiOnly = asciiOnly;
        this.indent = indent;
        this.itemSeparator = itemSeparator;
        this.keySeparator = keySeparator;
        this.sortKeys = sortKeys;
    }

    static Text dumps(Object value, Arguments arguments) {
        arguments.allow("ensure_ascii", "indent", "separators", "sort_keys");
        Object indent = arguments.get(1, "indent", None.NONE);
        Object separators = arguments.get(2, "separators", None.NONE);
        String item = indent == None.NONE ? ", " : ",";
        String key = ": ";
        if (separators != None.NONE) {
            List<Object> pair = Sequences.items(separators);
            if (pair.size() != 2 || !(pair.get(0) instanceof Text) || !(pair.get(1) instanceof Text)) {
                throw new OperationException("Invalid argument 'separators' of tojson: expected two strings");
            }
            item = ((Text) pair.get(0)).value();
            key = ((Text) pair.get(1)).value();
        }
        Json json = new Json(
                arguments.truth(0, "ensure_ascii", false),
                indentOf(indent),
                item,
                key,
                arguments.truth(3, "sort_keys", false));
        json.write(value, 0);
        return json.out.build();
    }

    private static String indentOf(Object indent) {
        if (indent == None.NONE) {
            return null;
        }
        if (indent instanceof Text text) {
            return text.value();
        }
        if (indent instanceof Long spaces && spaces <= 100) {
            return " ".repeat((int) Math.max(0, spaces));
        }
        throw new OperationException("Invalid argument 'indent' of tojson: expected at most 100 spaces or a string");
    }

    private void write(Object value, int depth) {
        Printing.checkDepth(depth);
        if (value instanceof Text text) {
            writeString(text);
        } else if (value instanceof List<?> list) {
            writeAll(list, depth);
        } else if (value instanceof Tuple tuple) {
            writeAll(tuple.items(), depth);
        } else if (value instanceof Map<?, ?> map) {
            writeMap(map, depth);
        } else {
            out.append(scalar(value));
        }
    }

    private static String scalar(Object value) {
        if (value instanceof Double number) {
            String text = Printing.real(number);
            return switch (text) {
                case "nan" -> "NaN";
                case "inf" -> "Infinity";
                case "-inf" -> "-Infinity";
                default -> text;
            };
        }
        if (value instanceof Boolean || value instanceof Long || value instanceof BigInteger) {
            return value.toString();
        }
        if (value == None.NONE) {
            return "null";
        }
        if (value instanceof Undefined undefined) {
            throw undefined.failure();
        }
        throw new OperationException("Cannot write a " + Types.name(value) + " as JSON");
    }

    private void writeAll(List<?> items, int depth) {
        if (items.isEmpty()) {
            out.append("[]");
            return;
        }
        out.append("[");
        String separator = "";
        for (Object item : items) {
            out.append(separator);
            newLine(depth + 1);
            write(item, depth + 1);
            separator = itemSeparator;
        }
        newLine(depth);
        out.append("]");
    }

    private void writeMap(Map<?, ?> map, int depth) {
        if (map.isEmpty()) {
            out.append("{}");
            return;
        }
        List<Map.Entry<?, ?>> entries = new ArrayList<>(map.entrySet());
        if (sortKeys) {
            entries.sort(Comparator.comparing(Map.Entry::getKey, Comparing::order));
        }
        out.append("{");
        String separator = "";
        for (Map.Entry<?, ?> entry : entries) {
            out.append(separator);
            newLine(depth + 1);
            writeString(entry.getKey() instanceof Text key ? key : Text.of(scalar(entry.getKey())));
            out.append(keySeparator);
            write(entry.getValue(), depth + 1);
            separator = itemSeparator;
        }
        newLine(depth);
        out.append("}");
    }

    private void newLine(int depth) {
        if (indent != null) {
            out.append("\n");
            for (int i = 0; i < depth; i++) {
                out.append(indent);
            }
        }
    }

    private void writeString(Text text) {
        StringBuilder escaped = new StringBuilder(text.value().length() + 2).append('"');
        for (int i = 0; i < text.value().length(); i++) {
            escape(text.value().charAt(i), escaped);
        }
        String quoted = escaped.append('"').toString();
        out.append(text.hasContent() ? Text.ofContent(quoted) : Text.of(quoted));
    }

    private void escape(char c, StringBuilder escaped) {
        switch (c) {
            case '"' -> escaped.append("\\\"");
            case '\\' -> escaped.append("\\\\");
            case '\n' -> escaped.append("\\n");
            case '\r' -> escaped.append("\\r");
            case '\t' -> escaped.append("\\t");
            case '\b' -> escaped.append("\\b");
            case '\f' -> escaped.append("\\f");
            default -> {
                if (c < ' ' || (asciiOnly && c > '~')) {
                    escaped.append(Printing.hex("\\u", c, 4));
                } else {
                    escaped.append(c);
                }
            }
        }
    }
}
