package io.bellows.run;

/** A run directory that cannot be used as asked: damaged, held by another driver, or of another configuration. */
public final class InvalidRunException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    InvalidRunException(String message) {
        super(message);
    }
}
