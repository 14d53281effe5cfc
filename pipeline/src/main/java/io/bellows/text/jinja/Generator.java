package io.bellows.text.jinja;

import java.util.ArrayList;
import java.util.List;

/** What filters such as {@code map} and {@code selectattr} return: true even if empty, and empty once looped over. */
final class Generator {

    private List<Object> rest;

    Generator(List<Object> items) {
        this.rest = items;
    }

    /** Takes all that is left. */
    List<Object> drain() {
        List<Object> taken = rest;
        rest = List.of();
        return taken;
    }

    /** Takes the next item, or gives an undefined value. */
    Object next() {
        if (rest.isEmpty()) {
            return new Undefined("No first item, sequence was empty.");
        }
        Object first = rest.get(0);
        rest = new ArrayList<>(rest.subList(1, rest.size()));
        return first;
    }
}
