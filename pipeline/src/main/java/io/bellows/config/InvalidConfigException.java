package io.bellows.config;

import java.util.List;

/** A configuration with errors; the message has all of them, one a line. */
public final class InvalidConfigException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    private final List<String> errors;

    /** An exception for {@code errors}, each naming key, value and remedy. */
    public InvalidConfigException(List<String> errors) {
        super("Invalid configuration, " + (errors.size() == 1 ? "one error" : errors.size() + " errors") + ":\n  "
                + String.join("\n  ", errors));
        this.errors = List.copyOf(errors);
    }

    /** Every error found, in the order of the keys. */
    public List<String> errors() {
        return errors;
    }
}
