package io.bellows.text.jinja;

import java.util.List;
import java.util.Map;

/** Equality, order and membership as in Python. */
final class Comparing {

    private static final int MAX_COMPARED = 1_000_000;

    private int compared;

    private Comparing() {}

    static boolean equal(Object left, Object right) {
        return new Comparing().same(left, right, 0);
    }

    private boolean same(Object left, Object right, int depth) {
        Printing.checkDepth(depth);
        if (++compared > MAX_COMPARED) {
            throw new OperationException("Cannot compare values of more than " + MAX_COMPARED + " parts");
        }
        if (left == right) {
            return !(left instanceof Double number && number.isNaN());
        }
        if (Numbers.isNumber(left) && Numbers.isNumber(right)) {
            return Numbers.compare(left, right) == 0;
        }
        if (left instanceof List<?> a && right instanceof List<?> b) {
            return sameItems(a, b, depth);
        }
        if (left instanceof Tuple a && right instanceof Tuple b) {
            return sameItems(a.items(), b.items(), depth);
        }
        if (left instanceof Map<?, ?> a && right instanceof Map<?, ?> b) {
            return sameEntries(a, b, depth);
        }
        if (left instanceof Undefined && right instanceof Undefined) {
            return true;
        }
        return left instanceof Text && left.equals(right);
    }

    private boolean sameItems(List<?> left, List<?> right, int depth) {
        if (left.size() != right.size()) {
            return false;
        }
        for (int i = 0; i < left.size(); i++) {
            if (!same(left.get(i), right.get(i), depth + 1)) {
                return false;
            }
        }
        return true;
    }

    private boolean sameEntries(Map<?, ?> left, Map<?, ?> right, int depth) {
        if (left.size() != right.size()) {
            return false;
        }
        for (Map.Entry<?, ?> entry : left.entrySet()) {
            Object other = right.get(entry.getKey());
            if (other == null || !same(entry.getValue(), other, depth + 1)) {
                return false;
            }
        }
        return true;
    }

    /** Negative, zero or positive; an error for values that have no order. */
    static int order(Object left, Object right) {
        if (Numbers.isNumber(left) && Numbers.isNumber(right)) {
            return Numbers.compare(left, right);
        }
        if (left instanceof Text a && right instanceof Text b) {
            return orderByCodePoint(a.value(), b.value());
        }
        if (left instanceof Undefined undefined) {
            throw undefined.failure();
        }
        if (right instanceof Undefined undefined) {
            throw undefined.failure();
        }
        if (left instanceof Tuple a && right instanceof Tuple b) {
            return orderItems(a.items(), b.items());
        }
        if (left instanceof List<?> a && right instanceof List<?> b) {
            return orderItems(a, b);
        }
        throw new OperationException("Cannot order a " + Types.name(left) + " and a " + Types.name(right));
    }

    private static int orderItems(List<?> left, List<?> right) {
        for (int i = 0; i < Math.min(left.size(), right.size()); i++) {
            if (!equal(left.get(i), right.get(i))) {
                return order(left.get(i), right.get(i));
            }
        }
        return Integer.compare(left.size(), right.size());
    }

    /** UTF-16 sorts characters beyond the basic plane before some within it; Python does not. */
    private static int orderByCodePoint(String left, String right) {
        int i = 0;
        while (i < left.length() && i < right.length() && left.charAt(i) == right.charAt(i)) {
            i++;
        }
        if (i == left.length() || i == right.length()) {
            return Integer.compare(left.length(), right.length());
        }
        boolean astral = Character.isSurrogate(left.charAt(i)) != Character.isSurrogate(right.charAt(i));
        int order = Character.compare(left.charAt(i), right.charAt(i));
        return astral ? (Character.isSurrogate(left.charAt(i)) ? 1 : -1) : order;
    }

    /** Python's {@code item in container}. */
    static boolean contains(Object container, Object item) {
        if (container instanceof Text text) {
            if (item instanceof Undefined undefined) {
                throw undefined.failure();
            }
            if (!(item instanceof Text part)) {
                throw new OperationException("Cannot look for a " + Types.name(item) + " in a str");
            }
            return text.value().contains(part.value());
        }
        if (container instanceof Map<?, ?> map) {
            return map.containsKey(item);
        }
        for (Object candidate : Sequences.items(container)) {
            if (equal(candidate, item)) {
                return true;
            }
        }
        return false;
    }
}
