package io.bellows.engine;

/** A generation that cannot be completed; others are not affected. */
public final class GenerationException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    GenerationException(String message) {
        super(message);
    }

    GenerationException(String message, Throwable cause) {
        super(message, cause);
    }
}
