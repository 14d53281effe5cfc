package io.bellows.text.jinja;

/** Python's {@code None}. */
enum None {
    NONE;

    static Object orValue(Object value) {
        return value == null ? NONE : value;
    }
}
