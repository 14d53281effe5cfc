package io.bellows.text.jinja;

import java.math.BigInteger;
import java.util.List;
import java.util.Map;

/** Python's names of the types of values. */
final class Types {

    private Types() {}

    static String name(Object value) {
        if (value instanceof Text) {
            return "str";
        }
        if (value instanceof Boolean) {
            return "bool";
        }
        if (value instanceof Long || value instanceof BigInteger) {
            return "int";
        }
        if (value instanceof Double) {
            return "float";
        }
        if (value instanceof List) {
            return "list";
        }
        if (value instanceof Map) {
            return "dict";
        }
        if (value == None.NONE) {
            return "None";
        }
        if (value instanceof Undefined) {
            return "undefined value";
        }
        if (value instanceof Callable) {
            return "function";
        }
        return lowerFirst(value.getClass().getSimpleName());
    }

    private static String lowerFirst(String name) {
        return Character.toLowerCase(name.charAt(0)) + name.substring(1);
    }
}
