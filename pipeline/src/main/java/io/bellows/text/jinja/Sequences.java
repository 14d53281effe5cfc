package io.bellows.text.jinja;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Values that can be looped over. */
final class Sequences {

    /** Longest list a template may build. */
    static final int MAX_ITEMS = 1_000_000;

    private Sequences() {}

    /** The items of a list, a tuple, a dict (its keys), a string (its characters) or nothing at all if undefined. */
    static List<Object> items(Object value) {
        List<Object> items = itemsOrNull(value);
        if (items == null) {
            throw new OperationException("Cannot loop over a " + Types.name(value));
        }
        return items;
    }

    static boolean canLoop(Object value) {
        return value instanceof Generator || itemsOrNull(value) != null;
    }

    @SuppressWarnings("unchecked") // the interpreter makes lists of objects only
    private static List<Object> itemsOrNull(Object value) {
        if (value instanceof List) {
            return (List<Object>) value;
        }
        if (value instanceof Tuple tuple) {
            return tuple.items();
        }
        if (value instanceof Map<?, ?> map) {
            return new ArrayList<>(map.keySet());
        }
        if (value instanceof Text text) {
            return characters(text);
        }
        if (value instanceof DictView view) {
            return view.items();
        }
        if (value instanceof Range range) {
            return range.items();
        }
        if (value instanceof Generator generator) {
            return generator.drain();
        }
        return value instanceof Undefined ? List.of() : null;
    }

    static long length(Object value) {
        if (value instanceof Text text) {
            return text.length();
        }
        if (value instanceof Map<?, ?> map) {
            return map.size();
        }
        if (value instanceof Generator || value instanceof Namespace || !canLoop(value)) {
            throw new OperationException("Cannot take the length of a " + Types.name(value));
        }
        return items(value).size();
    }

    static List<Object> concatenated(List<Object> left, List<Object> right) {
        checkSize(left.size() + (long) right.size());
        List<Object> all = new ArrayList<>(left);
        all.addAll(right);
        return all;
    }

    static List<Object> repeated(List<Object> items, long times) {
        checkSize(items.size() * Math.max(0, Math.min(times, MAX_ITEMS + 1L)));
        List<Object> all = new ArrayList<>();
        for (long i = 0; i < times && !items.isEmpty(); i++) {
            all.addAll(items);
        }
        return all;
    }

    static void checkSize(long size) {
        if (size > MAX_ITEMS) {
            throw new OperationException("Cannot build a list of more than " + MAX_ITEMS + " items");
        }
    }

    private static List<Object> characters(Text text) {
        List<Object> characters = new ArrayList<>();
        String value = text.value();
        int at = 0;
        while (at < value.length()) {
            int next = value.offsetByCodePoints(at, 1);
            checkSize(characters.size() + 1L);
            characters.add(text.substring(at, next));
            at = next;
        }
        return characters;
    }
}
