package io.bellows.data;

/** A dataset that cannot be used as it is; the message names file, place and remedy. */
public final class InvalidDatasetException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    /** An exception with everything that was found, for people. */
    public InvalidDatasetException(String message) {
        super(message);
    }

    /** The same with its cause. */
    public InvalidDatasetException(String message, Throwable cause) {
        super(message, cause);
    }
}
