package io.bellows.text.jinja;

import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The tests of Jinja: what may follow {@code is}. */
final class Tests {

    private Tests() {}

    static boolean holds(String name, Object value, Arguments arguments) {
        return switch (name) {
            case "eq", "equalto", "==" -> Operators.compare("==", value, other(arguments));
            case "ne", "!=" -> Operators.compare("!=", value, other(arguments));
            case "lt", "lessthan", "<" -> Operators.compare("<", value, other(arguments));
            case "le", "<=" -> Operators.compare("<=", value, other(arguments));
            case "gt", "greaterthan", ">" -> Operators.compare(">", value, other(arguments));
            case "ge", ">=" -> Operators.compare(">=", value, other(arguments));
            case "in" -> Operators.compare("in", value, other(arguments));
            case "sameas" -> isSame(value, other(arguments));
            case "divisibleby" -> isEqual(Operators.apply("%", value, other(arguments)), 0L);
            default -> {
                boolean holds = holds(name, value);
                arguments.allow();
                yield holds;
            }
        };
    }

    private static boolean holds(String name, Object value) {
        return switch (name) {
            case "defined" -> !(value instanceof Undefined);
            case "undefined" -> value instanceof Undefined;
            case "none" -> value == None.NONE;
            case "string" -> value instanceof Text;
            case "mapping" -> value instanceof Map;
            case "sequence" ->
                value instanceof Text
                        || value instanceof List
                        || value instanceof Map
                        || value instanceof Tuple
                        || value instanceof Range
                        || value instanceof Undefined;
            case "iterable" -> Sequences.canLoop(value);
            case "number" -> Numbers.isNumber(value);
            case "integer" -> Numbers.isInteger(value) && !(value instanceof Boolean);
            case "float" -> value instanceof Double;
            case "boolean" -> value instanceof Boolean;
            case "true" -> value instanceof Boolean bool && bool;
            case "false" -> value instanceof Boolean bool && !bool;
            case "callable" -> value instanceof Callable;
            case "even" -> isEqual(Operators.apply("%", value, 2L), 0L);
            case "odd" -> isEqual(Operators.apply("%", value, 2L), 1L);
            case "upper" -> isUpper(Printing.text(value).value());
            case "lower" -> isLower(Printing.text(value).value());
            default -> throw new OperationException("Unsupported test '" + name + "'");
        };
    }

    static boolean isUpper(String text) {
        return text.equals(text.toUpperCase(Locale.ROOT)) && !text.equals(text.toLowerCase(Locale.ROOT));
    }

    static boolean isLower(String text) {
        return text.equals(text.toLowerCase(Locale.ROOT)) && !text.equals(text.toUpperCase(Locale.ROOT));
    }

    private static boolean isEqual(Object value, Object other) {
        return Comparing.equal(value, other);
    }

    /** Identity is known only of Python's singletons. */
    private static boolean isSame(Object value, Object other) {
        if (value instanceof Boolean || other instanceof Boolean || value == None.NONE || other == None.NONE) {
            return value.equals(other);
        }
        throw new OperationException("Unsupported test 'sameas' of values other than true, false and none");
    }

    private static Object other(Arguments arguments) {
        arguments.allow("other");
        return arguments.require(0, "other");
    }
}
