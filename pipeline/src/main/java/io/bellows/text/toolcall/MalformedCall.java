package io.bellows.text.toolcall;

import static java.util.Objects.requireNonNull;

/**
 * What was meant as a call and cannot be read as one. It is to be counted and answered, never run.
 *
 * @param id as that of {@link ToolCall}, in the same sequence
 * @param text what the model wrote, from its opening tag on; also part of the turn's content
 * @param problem what is wrong with it, in words for the model
 */
public record MalformedCall(String id, String text, String problem) {

    /** Checks that nothing is missing. */
    public MalformedCall {
        requireNonNull(id, "id");
        requireNonNull(text, "text");
        requireNonNull(problem, "problem");
    }
}
