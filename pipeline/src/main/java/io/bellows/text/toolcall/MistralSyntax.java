package io.bellows.text.toolcall;

import java.util.List;

/** {@code [TOOL_CALLS][{"name": "f", "arguments": {…}}, …]}. Each call of the list stands for itself: a broken one costs no other. */
final class MistralSyntax implements CallSyntax {

    private static final String OPEN = "[TOOL_CALLS]";

    @Override
    public List<String> openings() {
        return List.of(OPEN);
    }

    @Override
    public int read(String text, int start, Calls calls) {
        int at = CallJson.skipWhitespace(text, start + OPEN.length());
        if (at == text.length() || text.charAt(at) != '[') {
            return malformed(text, start, "expected a JSON list of calls behind " + OPEN, calls);
        }
        int from = start;
        while (true) {
            at = CallJson.skipWhitespace(text, at + 1);
            try {
                CallJson.Found object = CallJson.object(text, at);
                CallJson.report(from, object.end(), object, calls, "arguments");
                from = object.end();
                at = CallJson.skipWhitespace(text, from);
            } catch (CallJson.NoObject e) {
                return malformed(text, from, e.getMessage(), calls);
            }
            if (at < text.length() && text.charAt(at) == ']') {
                return at + 1;
            }
            if (at == text.length() || text.charAt(at) != ',') {
                // What came before is complete, so only what is left is wrong.
                return at == text.length() ? at : malformed(text, from, "expected a comma or ] behind the call", calls);
            }
        }
    }

    /** A broken list goes as far as the next one, or the end. */
    private static int malformed(String text, int from, String problem, Calls calls) {
        int next = text.indexOf(OPEN, from + 1);
        int to = next < 0 ? text.length() : next;
        calls.addMalformed(from, to, problem);
        return to;
    }
}
