package io.bellows.tool;

import static java.util.Objects.requireNonNull;

import java.util.Locale;

/**
 * Why a call has no proper answer.
 *
 * @param kind which kind of fault
 * @param message the reason, for the record
 */
public record ToolError(Kind kind, String message) {

    /** Kinds of faults. The first four are the model's, if the tool is a good one. */
    public enum Kind {
        /** No tool of that name in this trajectory. */
        UNKNOWN_TOOL,
        /** The arguments are not JSON. */
        BAD_JSON,
        /** The arguments are JSON, but not what the tool's schema asks for. */
        INVALID_ARGUMENTS,
        /** The tool threw. */
        EXCEPTION,
        /** The tool took longer than allowed. */
        TIMEOUT,
        /** What the tool stands on does not work, or the tool could not be set up. */
        INFRASTRUCTURE;

        /** The name in metrics and tables, in lower case. */
        public String metricName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Checks that nothing is missing. */
    public ToolError {
        requireNonNull(kind, "kind");
        requireNonNull(message, "message");
    }
}
