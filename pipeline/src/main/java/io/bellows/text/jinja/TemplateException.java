package io.bellows.text.jinja;

/** A template that cannot be read or rendered; the message names construct and line. */
public final class TemplateException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int line;

    TemplateException(String problem, int line) {
        super(problem + " (line " + line + " of the chat template)");
        this.line = line;
    }

    /** The line of the template, from 1. */
    public int line() {
        return line;
    }
}
