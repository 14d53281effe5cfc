package io.bellows.text.toolcall;

import java.util.List;

/**
 * One turn of a model, taken apart.
 *
 * @param content the text without the well-formed calls, stripped; think blocks and malformed calls stay in it
 * @param calls the well-formed calls, in order
 * @param malformed the others, in order; ids tell the order among both
 */
public record ParsedTurn(String content, List<ToolCall> calls, List<MalformedCall> malformed) {

    /** Copies the lists. */
    public ParsedTurn {
        calls = List.copyOf(calls);
        malformed = List.copyOf(malformed);
    }

    /** Whether the model tried to call a tool, well or not. */
    public boolean attemptsCalls() {
        return !calls.isEmpty() || !malformed.isEmpty();
    }
}
