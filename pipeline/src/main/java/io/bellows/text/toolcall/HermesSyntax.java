package io.bellows.text.toolcall;

import java.util.List;

/** {@code <tool_call>{"name": "f", "arguments": {…}}</tool_call>}. */
final class HermesSyntax implements CallSyntax {

    private static final String OPEN = "<tool_call>";
    private static final String CLOSE = "</tool_call>";

    @Override
    public List<String> openings() {
        return List.of(OPEN);
    }

    @Override
    public int read(String text, int start, Calls calls) {
        int body = CallJson.skipWhitespace(text, start + OPEN.length());
        try {
            CallJson.Found object = CallJson.object(text, body);
            int close = CallJson.skipWhitespace(text, object.end());
            boolean closed = text.startsWith(CLOSE, close);
            if (closed || close == text.length()) {
                int next = closed ? close + CLOSE.length() : close;
                CallJson.report(start, next, object, calls, "arguments");
                return next;
            }
            return malformed(text, start, "expected " + CLOSE + " behind the JSON object", calls);
        } catch (CallJson.NoObject e) {
            return malformed(text, start, e.getMessage(), calls);
        }
    }

    /** A broken call goes as far as its closing tag, or the next call, or the end. */
    private static int malformed(String text, int start, String problem, Calls calls) {
        int close = text.indexOf(CLOSE, start);
        int next = text.indexOf(OPEN, start + OPEN.length());
        int to = close < 0 ? text.length() : close + CLOSE.length();
        int end = next >= 0 && next < to ? next : to;
        calls.addMalformed(start, end, problem);
        return end;
    }
}
