package io.bellows.tool;

import java.util.Map;

/** What a call comes to, before its text is fitted. */
record Answer(ToolResponse response, ToolError error) {

    static Answer of(ToolResponse response) {
        return new Answer(response, null);
    }

    /** An error that the model is told as it is recorded. */
    static Answer error(ToolError.Kind kind, String message) {
        return error(kind, message, message);
    }

    static Answer error(ToolError.Kind kind, String recorded, String told) {
        return new Answer(new ToolResponse("Error: " + told, null, Map.of()), new ToolError(kind, recorded));
    }

    /** What a tool threw. Errors are faults of the call too, except those that say that the JVM or the installation is broken. */
    static Answer thrown(Throwable thrown) {
        String message = thrown.getMessage();
        String told = message == null || message.isBlank() ? thrown.getClass().getSimpleName() : message;
        return error(kind(thrown), thrown.getClass().getName() + ": " + message, told);
    }

    private static ToolError.Kind kind(Throwable thrown) {
        boolean broken = thrown instanceof ToolUnavailableException
                || thrown instanceof LinkageError
                || (thrown instanceof VirtualMachineError && !(thrown instanceof StackOverflowError));
        return broken ? ToolError.Kind.INFRASTRUCTURE : ToolError.Kind.EXCEPTION;
    }
}
