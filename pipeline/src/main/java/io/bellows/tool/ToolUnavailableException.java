package io.bellows.tool;

/** What a tool stands on does not work: a service, a file, a device. Counted as {@link ToolError.Kind#INFRASTRUCTURE}. */
public class ToolUnavailableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** Says what does not work. */
    public ToolUnavailableException(String message, Throwable cause) {
        super(message, cause);
    }
}
