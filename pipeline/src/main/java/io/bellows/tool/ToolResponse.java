package io.bellows.tool;

import static java.util.Objects.requireNonNull;

import java.util.Map;

/**
 * What a tool answers.
 *
 * @param text the answer for the model
 * @param reward the reward of this call; null for none
 * @param metrics numbers to record, by name
 */
public record ToolResponse(String text, Double reward, Map<String, Double> metrics) {

    /** Checks that there is a text, and copies the metrics. */
    public ToolResponse {
        requireNonNull(text, "text");
        metrics = Map.copyOf(metrics);
    }

    /** A text and nothing else. */
    public static ToolResponse of(String text) {
        return new ToolResponse(text, null, Map.of());
    }
}
