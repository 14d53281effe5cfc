package io.bellows.text.jinja;

import java.util.ArrayList;
import java.util.List;

/** Python's slices: bounds may be left out (null), negative, or beyond the ends. */
final class Slicing {

    private Slicing() {}

    static Object slice(Object value, Long start, Long stop, Long step) {
        if (value instanceof Text text) {
            return text(text, start, stop, step);
        }
        if (value instanceof List) {
            return pick(Sequences.items(value), start, stop, step);
        }
        if (value instanceof Range range) {
            return new Range(pick(range.items(), start, stop, step));
        }
        if (value instanceof Tuple tuple) {
            return new Tuple(pick(tuple.items(), start, stop, step));
        }
        if (value instanceof Undefined undefined) {
            throw undefined.failure();
        }
        throw new OperationException("Cannot slice a " + Types.name(value));
    }

    private static Text text(Text text, Long start, Long stop, Long step) {
        if (step == null || step == 1) {
            long length = text.length();
            int from = (int) bound(start, 0, length, length, 0);
            int to = (int) Math.max(from, bound(stop, 0, length, length, length));
            return text.substring(text.offset(from), text.offset(to));
        }
        TextBuilder out = new TextBuilder();
        pick(Sequences.items(text), start, stop, step).forEach(character -> out.append((Text) character));
        return out.build();
    }

    private static List<Object> pick(List<Object> items, Long start, Long stop, Long step) {
        long stride = step == null ? 1 : step;
        if (stride == 0) {
            throw new OperationException("Cannot slice with step 0");
        }
        long length = items.size();
        long lowest = stride > 0 ? 0 : -1;
        long highest = stride > 0 ? length : length - 1;
        long at = bound(start, lowest, highest, length, stride > 0 ? lowest : highest);
        long end = bound(stop, lowest, highest, length, stride > 0 ? highest : lowest);
        List<Object> picked = new ArrayList<>();
        // Beyond the length, a stride is as good as any other; capping it keeps the sum from overflowing.
        long jump = Math.max(-length - 1, Math.min(stride, length + 1));
        for (long i = at; jump > 0 ? i < end : i > end; i += jump) {
            picked.add(items.get((int) i));
        }
        return picked;
    }

    private static long bound(Long given, long lowest, long highest, long length, long missing) {
        if (given == null) {
            return missing;
        }
        long index = given < 0 ? given + length : given;
        return Math.max(lowest, Math.min(index, highest));
    }
}
