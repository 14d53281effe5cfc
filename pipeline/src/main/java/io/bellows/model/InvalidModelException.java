package io.bellows.model;

/** A model folder that cannot be used as it is: the message names the file, what was expected and what was found. */
public final class InvalidModelException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message file, tensor or key, what was expected and what was found
     */
    public InvalidModelException(String message) {
        super(message);
    }

    /**
     * Creates the exception.
     *
     * @param message file, tensor or key, what was expected and what was found
     * @param cause what went wrong underneath
     */
    public InvalidModelException(String message, Throwable cause) {
        super(message, cause);
    }
}
