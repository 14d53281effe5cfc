package io.bellows.config;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Collects the errors of a configuration. */
final class Errors {

    private final List<String> found = new ArrayList<>();
    private final Set<String> known;
    private final List<String> sections;

    Errors() {
        this.known = BellowsConfig.keys().stream().map(Key::name).collect(Collectors.toCollection(LinkedHashSet::new));
        this.sections = known.stream()
                .filter(key -> key.contains("."))
                .map(key -> key.substring(0, key.indexOf('.')))
                .distinct()
                .toList();
    }

    void add(String error) {
        found.add(error);
    }

    /** Notes an unknown key, or, where a whole unknown section was given, each key in it. */
    void unknownKey(String name, JsonNode value) {
        if (value.isObject() && !value.isEmpty()) {
            value.properties().forEach(entry -> unknownKey(name + "." + entry.getKey(), entry.getValue()));
            return;
        }
        String remedy = VerlKeys.remedy(name, known, sections)
                .orElseGet(() -> "remove it; 'bellows validate --defaults' lists every key");
        found.add("Invalid key " + name + ": there is no such key; " + remedy);
    }

    List<String> found() {
        return List.copyOf(found);
    }
}
