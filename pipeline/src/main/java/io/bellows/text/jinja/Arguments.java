package io.bellows.text.jinja;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The arguments of a call, a filter or a test.
 *
 * @param callee what is called, for messages, such as {@code filter 'join'}
 * @param positional in order
 * @param named by name, in order
 */
record Arguments(String callee, List<Object> positional, Map<String, Object> named) {

    static Arguments of(String callee, List<Object> positional) {
        return new Arguments(callee, positional, Map.of());
    }

    /** Checks that nothing is given beyond the named parameters. */
    Arguments allow(String... parameters) {
        if (positional.size() > parameters.length) {
            throw new OperationException("Invalid call of " + callee + ": it takes at most " + parameters.length
                    + " arguments, not " + positional.size());
        }
        for (String name : named.keySet()) {
            int at = List.of(parameters).indexOf(name);
            if (at < 0) {
                throw new OperationException("Unsupported argument '" + name + "' of " + callee);
            }
            if (at < positional.size()) {
                throw new OperationException("Invalid call of " + callee + ": argument '" + name + "' is given twice");
            }
        }
        return this;
    }

    /** The argument at a position or under a name, or a fallback. */
    Object get(int position, String name, Object fallback) {
        if (position < positional.size()) {
            return positional.get(position);
        }
        return named.getOrDefault(name, fallback);
    }

    /** The argument at a position or under a name. */
    Object require(int position, String name) {
        Object value = get(position, name, null);
        if (value == null) {
            throw new OperationException("Invalid call of " + callee + ": argument '" + name + "' is missing");
        }
        return value;
    }

    Text text(int position, String name) {
        return asText(require(position, name), name);
    }

    Text text(int position, String name, Text fallback) {
        Object value = get(position, name, fallback);
        return value == None.NONE || value == fallback ? fallback : asText(value, name);
    }

    boolean truth(int position, String name, boolean fallback) {
        return Truth.of(get(position, name, fallback));
    }

    int integer(int position, String name, int fallback) {
        Object value = get(position, name, (long) fallback);
        if (value instanceof Long number && number.intValue() == number) {
            return number.intValue();
        }
        if (value == None.NONE) {
            return fallback;
        }
        throw new OperationException(
                "Invalid argument '" + name + "' of " + callee + ": expected an int, not a " + Types.name(value));
    }

    /** The arguments without the first {@code count} positional ones. */
    Arguments after(int count, String newCallee) {
        List<Object> rest = positional.subList(Math.min(count, positional.size()), positional.size());
        return new Arguments(newCallee, rest, new LinkedHashMap<>(named));
    }

    private Text asText(Object value, String name) {
        if (value instanceof Text text) {
            return text;
        }
        if (value instanceof Undefined undefined) {
            throw undefined.failure();
        }
        throw new OperationException(
                "Invalid argument '" + name + "' of " + callee + ": expected a str, not a " + Types.name(value));
    }
}
