package io.bellows.training.collective;

/** An exchange between ranks that could not end: a rank failed, died, or gave no sign of life. */
public final class CollectiveException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int origin;

    CollectiveException(int origin, String message, Throwable cause) {
        super(message, cause);
        this.origin = origin;
    }

    /**
     * Returns the rank that found the trouble first, as far as is known here.
     *
     * @return a rank
     */
    public int origin() {
        return origin;
    }
}
