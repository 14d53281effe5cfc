package io.bellows.text.jinja;

import java.util.List;
import java.util.Map;
import java.util.Set;

/** What {@code value.name} and {@code value[index]} mean. */
final class Attributes {

    /** Python's methods of lists and dicts that are not in the subset; most of them change the value. */
    private static final Set<String> UNSUPPORTED_OF_LIST =
            Set.of("append", "clear", "copy", "extend", "insert", "pop", "remove", "reverse", "sort");

    private static final Set<String> UNSUPPORTED_OF_DICT =
            Set.of("clear", "copy", "fromkeys", "pop", "popitem", "setdefault", "update");

    private Attributes() {}

    /** A method or field of the value, else its item of that name, else undefined. */
    static Object attribute(Object owner, String name) {
        if (owner instanceof Undefined undefined) {
            throw undefined.failure();
        }
        Object member = member(owner, name);
        if (member == null && owner instanceof Map<?, ?> map) {
            member = map.get(Text.of(name));
        }
        if (member == null && name.startsWith("__")) {
            throw new OperationException("Unsupported attribute '" + name + "'");
        }
        return member == null ? Undefined.attribute(owner, name) : member;
    }

    /** An item of the value, else its method or field of that name, else undefined. */
    static Object item(Object owner, Object index) {
        if (owner instanceof Undefined undefined) {
            throw undefined.failure();
        }
        if (owner instanceof Map<?, ?> map && map.get(index) != null) {
            return map.get(index);
        }
        if (index instanceof Text name) {
            Object member = member(owner, name.value());
            return member == null ? Undefined.attribute(owner, name.value()) : member;
        }
        boolean indexed =
                owner instanceof List || owner instanceof Tuple || owner instanceof Range || owner instanceof Text;
        if (indexed && (index instanceof Long || index instanceof Boolean)) {
            return at(owner, Numbers.integer(index));
        }
        return Undefined.attribute(owner, Printing.text(index));
    }

    private static Object at(Object owner, long index) {
        long length = Sequences.length(owner);
        long position = index < 0 ? index + length : index;
        if (position < 0 || position >= length) {
            return Undefined.attribute(owner, index);
        }
        if (owner instanceof Text text) {
            int start = text.offset((int) position);
            return text.substring(start, text.value().offsetByCodePoints(start, 1));
        }
        return Sequences.items(owner).get((int) position);
    }

    private static Object member(Object owner, String name) {
        if (owner instanceof Text text) {
            return TextMethods.find(text, name);
        }
        if (owner instanceof Map<?, ?> map) {
            return dictMethod(map, name);
        }
        if (owner instanceof List || owner instanceof Tuple) {
            return listMethod(owner, name);
        }
        if (owner instanceof Namespace namespace) {
            return namespace.get(name);
        }
        return owner instanceof Loop loop ? loop.attribute(name) : null;
    }

    private static Callable dictMethod(Map<?, ?> map, String name) {
        return switch (name) {
            case "items" ->
                arguments -> {
                    arguments.allow();
                    return new DictView(Filters.pairs(map));
                };
            case "keys" ->
                arguments -> {
                    arguments.allow();
                    return new DictView(List.copyOf(map.keySet()));
                };
            case "values" ->
                arguments -> {
                    arguments.allow();
                    return new DictView(List.copyOf(map.values()));
                };
            case "get" ->
                arguments -> {
                    arguments.allow("key", "default");
                    Object value = map.get(arguments.require(0, "key"));
                    return value == null ? arguments.get(1, "default", None.NONE) : value;
                };
            default -> {
                if (UNSUPPORTED_OF_DICT.contains(name)) {
                    throw new OperationException("Unsupported method '" + name + "' of a dict");
                }
                yield null;
            }
        };
    }

    private static Callable listMethod(Object owner, String name) {
        return switch (name) {
            case "index" ->
                arguments -> {
                    arguments.allow("value");
                    List<Object> items = Sequences.items(owner);
                    for (int i = 0; i < items.size(); i++) {
                        if (Comparing.equal(items.get(i), arguments.require(0, "value"))) {
                            return (long) i;
                        }
                    }
                    throw new OperationException("Cannot find the value in the list");
                };
            case "count" ->
                arguments -> {
                    arguments.allow("value");
                    Object value = arguments.require(0, "value");
                    return Sequences.items(owner).stream()
                            .filter(item -> Comparing.equal(item, value))
                            .count();
                };
            default -> {
                if (UNSUPPORTED_OF_LIST.contains(name)) {
                    throw new OperationException("Unsupported method '" + name + "' of a list");
                }
                yield null;
            }
        };
    }
}
