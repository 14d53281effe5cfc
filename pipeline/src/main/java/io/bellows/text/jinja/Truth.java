package io.bellows.text.jinja;

import java.math.BigInteger;
import java.util.List;
import java.util.Map;

/** Which values count as true. */
final class Truth {

    private Truth() {}

    static boolean of(Object value) {
        if (value instanceof Boolean bool) {
            return bool;
        }
        if (value instanceof Text text) {
            return !text.value().isEmpty();
        }
        if (value instanceof Long number) {
            return number != 0;
        }
        if (value instanceof Double number) {
            return number != 0;
        }
        if (value instanceof BigInteger number) {
            return number.signum() != 0;
        }
        if (value instanceof Map<?, ?> map) {
            return !map.isEmpty();
        }
        if (value instanceof List<?> list) {
            return !list.isEmpty();
        }
        if (value instanceof Tuple tuple) {
            return !tuple.items().isEmpty();
        }
        if (value instanceof DictView view) {
            return !view.items().isEmpty();
        }
        if (value instanceof Range range) {
            return !range.items().isEmpty();
        }
        return value != None.NONE && !(value instanceof Undefined);
    }
}
