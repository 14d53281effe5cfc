package io.bellows.text.jinja;

/**
 * A token of a template.
 *
 * @param kind what it is
 * @param text its text; of a string what it means, not how it is written
 * @param line where it stands, from 1
 */
record Token(Kind kind, String text, int line) {

    enum Kind {
        DATA,
        EXPRESSION_BEGIN,
        EXPRESSION_END,
        TAG_BEGIN,
        TAG_END,
        NAME,
        STRING,
        INTEGER,
        FLOAT,
        OPERATOR,
        END
    }

    boolean is(String operator) {
        return kind == Kind.OPERATOR && text.equals(operator);
    }

    boolean isName(String name) {
        return kind == Kind.NAME && text.equals(name);
    }

    /** How messages show it. */
    String shown() {
        return switch (kind) {
            case DATA -> "text";
            case EXPRESSION_BEGIN -> "'{{'";
            case EXPRESSION_END -> "'}}'";
            case TAG_BEGIN -> "'{%'";
            case TAG_END -> "'%}'";
            case STRING -> "a string";
            case END -> "the end of the template";
            default -> "'" + text + "'";
        };
    }
}
