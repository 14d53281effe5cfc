package io.bellows.env;

/** An error of an environment that ends its trajectory, and no other. The kind goes to the column {@code error_kind}. */
public class EnvironmentException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String kind;

    /**
     * An error.
     *
     * @param kind in snake case, such as {@code sandbox}
     * @param message what is wrong, for people
     * @param cause what it comes from, or null
     */
    public EnvironmentException(String kind, String message, Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    /** The kind. */
    public String kind() {
        return kind;
    }
}
