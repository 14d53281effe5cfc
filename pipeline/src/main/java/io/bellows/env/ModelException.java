package io.bellows.env;

/** A turn that a model could not complete; its trajectory fails and no other. */
public final class ModelException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /**
     * An error of one call.
     *
     * @param message what is wrong
     * @param cause what it comes from, or null
     */
    public ModelException(String message, Throwable cause) {
        super(message, cause);
    }
}
