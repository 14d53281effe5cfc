package io.bellows.text.jinja;

/** An operation that failed on its operands; the interpreter adds the line and makes it a {@link TemplateException}. */
final class OperationException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    OperationException(String message) {
        super(message);
    }
}
