package io.bellows.tool;

import io.bellows.text.toolcall.ToolCall;
import java.util.Map;

/**
 * The outcome of one call, whatever happened.
 *
 * @param call the call
 * @param text the answer for the model, clean Unicode, within the limit in tokens; with an error it says what went wrong
 * @param reward the tool's reward for the call, finite; null for none
 * @param metrics the tool's numbers, finite, by name
 * @param error why there is no proper answer; null when there is one
 * @param truncated whether the answer was shortened
 * @param millis how long the call took
 */
public record ToolResult(
        ToolCall call,
        String text,
        Double reward,
        Map<String, Double> metrics,
        ToolError error,
        boolean truncated,
        long millis) {

    /** Whether the tool answered. */
    public boolean succeeded() {
        return error == null;
    }
}
