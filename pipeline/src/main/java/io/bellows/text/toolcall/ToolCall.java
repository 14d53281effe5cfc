package io.bellows.text.toolcall;

import static java.util.Objects.requireNonNull;

/**
 * A call as the model wrote it. Whether the tool exists and the arguments fit it is not known yet.
 *
 * @param id nine letters and digits, unique in its trajectory; what {@code tool_call_id} of the answer refers to
 * @param name the tool's name, not empty
 * @param arguments the arguments as JSON text, an object as a rule
 */
public record ToolCall(String id, String name, String arguments) {

    /** Checks that nothing is missing. */
    public ToolCall {
        requireNonNull(id, "id");
        requireNonNull(name, "name");
        requireNonNull(arguments, "arguments");
    }
}
