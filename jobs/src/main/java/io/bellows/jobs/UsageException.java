package io.bellows.jobs;

import java.util.List;

/** Arguments that parse but do not fit together or to this machine: exit code 2. */
final class UsageException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final List<String> errors;

    UsageException(String error) {
        this(List.of(error));
    }

    UsageException(List<String> errors) {
        super(String.join("\n  ", errors));
        this.errors = List.copyOf(errors);
    }

    /** Everything that is wrong, a line each. */
    List<String> errors() {
        return errors;
    }
}
