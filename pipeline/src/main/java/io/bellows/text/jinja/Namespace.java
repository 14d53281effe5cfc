package io.bellows.text.jinja;

import java.util.LinkedHashMap;
import java.util.Map;

/** What {@code namespace()} returns: attributes that {@code set} may change from inside a loop. */
final class Namespace {

    private final Map<String, Object> attributes = new LinkedHashMap<>();

    Object get(String name) {
        return attributes.get(name);
    }

    void set(String name, Object value) {
        attributes.put(name, value);
    }
}
