package io.bellows.text.toolcall;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/**
 * {@code {"name": "f", "parameters": {…}}} as the whole turn, or behind {@code <|python_tag|>}; several are separated by
 * semicolons or white space. A turn that is another JSON object is an answer.
 */
final class Llama3Syntax implements CallSyntax {

    private static final String TAG = "<|python_tag|>";
    private static final List<String> FIRST_KEYS = List.of("\"name\"", "\"type\"", "\"function\"");

    @Override
    public List<String> openings() {
        return List.of(TAG);
    }

    @Override
    public boolean opensBare(String text, int start) {
        if (text.charAt(start) != '{') {
            return false;
        }
        int key = CallJson.skipWhitespace(text, start + 1);
        if (FIRST_KEYS.stream().noneMatch(first -> text.startsWith(first, key))) {
            return false;
        }
        try {
            return isCall(CallJson.object(text, start).value());
        } catch (CallJson.NoObject e) {
            return true;
        }
    }

    @Override
    public int read(String text, int start, Calls calls) {
        int at = start;
        while (true) {
            int body = CallJson.skipWhitespace(text, text.startsWith(TAG, at) ? at + TAG.length() : at);
            try {
                CallJson.Found object = CallJson.object(text, body);
                CallJson.report(at, object.end(), object, calls, "parameters", "arguments");
                at = separator(text, object.end());
            } catch (CallJson.NoObject e) {
                calls.addMalformed(at, text.length(), e.getMessage());
                return text.length();
            }
            if (!text.startsWith("{", at) && !text.startsWith(TAG, at)) {
                return at;
            }
        }
    }

    private static int separator(String text, int from) {
        int at = CallJson.skipWhitespace(text, from);
        return at < text.length() && text.charAt(at) == ';' ? CallJson.skipWhitespace(text, at + 1) : at;
    }

    private static boolean isCall(ObjectNode object) {
        return object.path("name").isTextual() && (object.has("parameters") || object.has("arguments"));
    }
}
