package io.bellows.udfs.reward;

/** A reference answer that a comparison cannot read: a fault of the data, not a wrong response. */
public final class InvalidReferenceException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    InvalidReferenceException(String message) {
        super(message);
    }
}
