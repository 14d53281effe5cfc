package io.bellows.text.toolcall;

import com.fasterxml.jackson.databind.JsonNode;
import io.bellows.text.Message;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds the calls in the turns of one trajectory and numbers them. Not safe for use by several threads.
 *
 * <p>A think block is never searched. Where the prompt already opened it, so that the turn has only {@code </think>}, all that
 * comes before is thinking; a prompt that opened it and a turn that was cut off before its end are told apart by no tag, so put
 * {@code <think>} in front of the text in that case.
 */
public final class ToolCallParser {

    /** More calls than this in a turn are one malformed call; it also bounds the work. */
    static final int MOST_CALLS = 128;

    private static final String THINK = "<think>";
    private static final String THINK_END = "</think>";

    private final CallSyntax syntax;
    private int numbered;

    ToolCallParser(CallSyntax syntax) {
        this.syntax = syntax;
    }

    /**
     * Takes one turn apart.
     *
     * @param text the sampled tokens as text, with the special tokens that the format uses ({@code [TOOL_CALLS]}, {@code
     *     <|python_tag|>}), without the token that ended the turn
     * @param end whether the model or a limit ended it
     */
    public ParsedTurn parse(String text, TurnEnd end) {
        return new Scan(text, end).run();
    }

    /**
     * Numbers the calls of a turn that somebody else has taken apart, such as a server.
     *
     * @param turn with calls as the chat completions API writes them, or without
     */
    public ParsedTurn number(Message turn) {
        List<ToolCall> calls = new ArrayList<>();
        List<MalformedCall> malformed = new ArrayList<>();
        JsonNode given = turn.toolCalls() == null ? null : CallJson.valueOrNull(turn.toolCalls());
        for (JsonNode call : given == null ? List.<JsonNode>of() : given) {
            JsonNode arguments = call.at("/function/arguments");
            String name = call.at("/function/name").asText();
            if (name.isEmpty() || calls.size() + malformed.size() >= MOST_CALLS) {
                String problem = name.isEmpty() ? "a call without a name" : "more than " + MOST_CALLS + " calls";
                malformed.add(new MalformedCall(nextId(), call.toString(), problem));
            } else {
                calls.add(new ToolCall(
                        nextId(), name, arguments.isTextual() ? arguments.textValue() : arguments.toString()));
            }
        }
        return new ParsedTurn(turn.content() == null ? "" : turn.content().strip(), calls, malformed);
    }

    private String nextId() {
        return "call%05d".formatted(numbered++);
    }

    /** The state of one pass over a turn. */
    private final class Scan implements CallSyntax.Calls {

        private final String text;
        private final TurnEnd end;
        private final StringBuilder content = new StringBuilder();
        private final List<ToolCall> calls = new ArrayList<>();
        private final List<MalformedCall> malformed = new ArrayList<>();
        private boolean sawThink;
        private int contentFrom;

        Scan(String text, TurnEnd end) {
            this.text = text;
            this.end = end;
        }

        ParsedTurn run() {
            int at = CallJson.skipWhitespace(text, 0);
            if (at < text.length() && syntax.opensBare(text, at)) {
                at = read(at);
            }
            while (at < text.length()) {
                at = step(at);
            }
            content.append(text, contentFrom, text.length());
            return new ParsedTurn(content.toString().strip(), calls, malformed);
        }

        private int step(int at) {
            if (text.startsWith(THINK, at)) {
                sawThink = true;
                int close = text.indexOf(THINK_END, at);
                return close < 0 ? text.length() : afterThinking(close);
            }
            if (text.startsWith(THINK_END, at)) {
                if (!sawThink) {
                    forgetThinking();
                }
                return afterThinking(at);
            }
            return syntax.openings().stream().anyMatch(opening -> text.startsWith(opening, at)) ? read(at) : at + 1;
        }

        private int afterThinking(int close) {
            sawThink = true;
            int answer = close + THINK_END.length();
            int start = CallJson.skipWhitespace(text, answer);
            return start < text.length() && syntax.opensBare(text, start) ? read(start) : answer;
        }

        /** All so far was inside a think block that the prompt had opened. */
        private void forgetThinking() {
            numbered -= calls.size() + malformed.size();
            calls.clear();
            malformed.clear();
            content.setLength(0);
            contentFrom = 0;
        }

        private int read(int start) {
            if (calls.size() + malformed.size() >= MOST_CALLS) {
                addMalformed(start, text.length(), "more than " + MOST_CALLS + " calls in one turn");
                return text.length();
            }
            int malformedBefore = malformed.size();
            int next = syntax.read(text, start, this);
            if (malformed.size() == malformedBefore) {
                content.append(text, contentFrom, start);
                contentFrom = next;
            }
            return next;
        }

        @Override
        public void add(String name, String arguments) {
            calls.add(new ToolCall(nextId(), name, arguments));
        }

        @Override
        public void addMalformed(int from, int to, String problem) {
            boolean cutOff = end == TurnEnd.CUT_OFF && to == text.length();
            String reason = cutOff ? problem + "; the turn was cut off at its limit" : problem;
            malformed.add(new MalformedCall(nextId(), text.substring(from, to), reason));
        }
    }
}
