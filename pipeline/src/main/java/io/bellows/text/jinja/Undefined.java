package io.bellows.text.jinja;

/**
 * The value of a name or an attribute that is not there: prints as nothing, is false and empty, and is an error in every
 * other use.
 *
 * @param problem says what is not there, such as {@code 'x' is undefined}
 */
record Undefined(String problem) {

    static Undefined variable(String name) {
        return new Undefined("'" + name + "' is undefined");
    }

    static Undefined attribute(Object owner, Object name) {
        return new Undefined("a " + Types.name(owner) + " has no attribute '" + name + "'");
    }

    OperationException failure() {
        return new OperationException("Cannot use an undefined value: " + problem);
    }
}
