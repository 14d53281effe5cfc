package io.bellows.config;

/** A value that does not fit its key; the message says what would. */
final class InvalidValue extends Exception {

    private static final long serialVersionUID = 1L;

    InvalidValue(String expected) {
        super(expected);
    }
}
