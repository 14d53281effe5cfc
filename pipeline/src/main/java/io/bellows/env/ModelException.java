package io.bellows.env;

/** A turn that a model could not complete; its trajectory fails and no other. */
public final class ModelException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int retries;

    /**
     * An error of one call.
     *
     * @param message what is wrong
     * @param cause what it comes from, or null
     */
    public ModelException(String message, Throwable cause) {
        this(message, cause, 0);
    }

    /**
     * An error of one call that was tried several times.
     *
     * @param message what is wrong
     * @param cause what it comes from, or null
     * @param retries how often it was tried again
     */
    public ModelException(String message, Throwable cause, int retries) {
        super(message, cause);
        this.retries = retries;
    }

    /** How often the call was tried again. */
    public int retries() {
        return retries;
    }
}
