package io.bellows.text.toolcall;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * {@code <tool_call><function=f><parameter=x>value</parameter></function></tool_call>}, the outer tag optional, as the models
 * leave it out at times.
 *
 * <p>Values are text without quoting. A {@code </parameter>} counts only where another parameter or the end of the function
 * follows, so a value may hold any tag otherwise. Whether a value is a text or JSON is for the tool's schema to say.
 */
final class Qwen3CoderSyntax implements CallSyntax {

    private static final String OPEN = "<tool_call>";
    private static final String CLOSE = "</tool_call>";
    private static final String FUNCTION = "<function=";
    private static final String FUNCTION_END = "</function>";
    private static final String PARAMETER = "<parameter=";
    private static final String PARAMETER_END = "</parameter>";

    private final Map<String, JsonNode> properties = new HashMap<>();

    Qwen3CoderSyntax(List<ObjectNode> schemas) {
        for (ObjectNode schema : schemas) {
            JsonNode function = schema.path("function");
            properties.put(
                    function.path("name").asText(), function.path("parameters").path("properties"));
        }
    }

    @Override
    public List<String> openings() {
        return List.of(OPEN, FUNCTION);
    }

    @Override
    public int read(String text, int start, Calls calls) {
        try {
            Reader reader = new Reader(text, start);
            reader.read(calls);
            return reader.at;
        } catch (Malformed e) {
            int to = endOfBroken(text, start);
            calls.addMalformed(start, to, e.getMessage());
            return to;
        }
    }

    /** A broken call goes as far as its closing tag, or the next call, or the end. */
    private static int endOfBroken(String text, int start) {
        int close = text.indexOf(CLOSE, start);
        int next = text.indexOf(OPEN, start + 1);
        int to = close < 0 ? text.length() : close + CLOSE.length();
        return next >= 0 && next < to ? next : to;
    }

    /** A text is kept as it is wherever the schema allows a text; else it is JSON, or again a text for the schema to refuse. */
    private JsonNode typed(String function, String parameter, String value) {
        JsonNode schema =
                properties.getOrDefault(function, CallJson.newObject()).path(parameter);
        JsonNode json = allowsText(schema) ? null : CallJson.valueOrNull(value);
        return json == null || json.isMissingNode() ? CallJson.newObject().textNode(value) : json;
    }

    private static boolean allowsText(JsonNode schema) {
        JsonNode type = schema.path("type");
        if (type.isMissingNode()) {
            return !schema.has("anyOf") && !schema.has("oneOf") && !schema.has("$ref") && !schema.has("enum");
        }
        for (JsonNode one : type) {
            if (one.asText().equals("string")) {
                return true;
            }
        }
        return type.asText().equals("string");
    }

    private static final class Malformed extends Exception {

        private static final long serialVersionUID = 1L;

        Malformed(String problem) {
            super(problem);
        }
    }

    /** Reads one call, from tag to tag. */
    private final class Reader {

        private final String text;
        private int at;

        Reader(String text, int start) {
            this.text = text;
            this.at = start;
        }

        void read(Calls calls) throws Malformed {
            boolean wrapped = skip(OPEN);
            if (!skip(FUNCTION)) {
                throw new Malformed("expected " + FUNCTION + "name> behind " + OPEN);
            }
            String function = name(FUNCTION);
            ObjectNode arguments = CallJson.newObject();
            while (skip(PARAMETER)) {
                String parameter = name(PARAMETER);
                JsonNode value = typed(function, parameter, value(parameter));
                if (arguments.has(parameter)) {
                    throw new Malformed("parameter " + parameter + " is given twice");
                }
                arguments.set(parameter, value);
            }
            if (!skip(FUNCTION_END)) {
                throw new Malformed("expected " + PARAMETER + "name> or " + FUNCTION_END);
            }
            boolean closed = skip(CLOSE);
            if (wrapped && !closed && at < text.length()) {
                throw new Malformed("expected " + CLOSE + " behind " + FUNCTION_END);
            }
            calls.add(function, arguments.toString());
        }

        /** Moves behind a tag and the white space around it, if it stands here. */
        private boolean skip(String tag) {
            int start = CallJson.skipWhitespace(text, at);
            if (!text.startsWith(tag, start)) {
                return false;
            }
            at = start + tag.length();
            if (!tag.endsWith("=")) {
                at = CallJson.skipWhitespace(text, at);
            }
            return true;
        }

        private String name(String tag) throws Malformed {
            int close = at;
            while (close < text.length() && ">\n<".indexOf(text.charAt(close)) < 0) {
                close++;
            }
            String name = text.substring(at, close).strip();
            if (close == text.length() || text.charAt(close) != '>' || name.isEmpty()) {
                throw new Malformed("expected a name and > behind " + tag);
            }
            at = close + 1;
            return name;
        }

        private String value(String parameter) throws Malformed {
            int close = text.indexOf(PARAMETER_END, at);
            while (close >= 0) {
                int next = CallJson.skipWhitespace(text, close + PARAMETER_END.length());
                if (text.startsWith(PARAMETER, next) || text.startsWith(FUNCTION_END, next)) {
                    String value = withoutOuterNewlines(text.substring(at, close));
                    at = next;
                    return value;
                }
                close = text.indexOf(PARAMETER_END, next);
            }
            throw new Malformed("parameter " + parameter + " does not end with " + PARAMETER_END);
        }

        /** The template writes a newline behind the opening tag and one before the closing tag. */
        private static String withoutOuterNewlines(String value) {
            int from = value.startsWith("\n") ? 1 : 0;
            int to = value.length() > from && value.endsWith("\n") ? value.length() - 1 : value.length();
            return value.substring(from, to);
        }
    }
}
