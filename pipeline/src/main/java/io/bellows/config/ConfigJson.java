package io.bellows.config;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;

/** Configuration records as JSON, their hash and their differences. */
final class ConfigJson {

    private static final ObjectMapper JSON = new ObjectMapper();

    private ConfigJson() {}

    static ObjectNode write(Record config) {
        ObjectNode node = JSON.createObjectNode();
        for (RecordComponent component : config.getClass().getRecordComponents()) {
            Object value = read(component, config);
            if (component.isAnnotationPresent(OtherKeys.class)) {
                new TreeMap<>((Map<?, ?>) value).forEach((key, other) -> node.set((String) key, toNode(other)));
            } else {
                node.set(Key.nameOf(component), toNode(value));
            }
        }
        return node;
    }

    static String hash(BellowsConfig config) {
        try {
            byte[] text = fixed(config).toString().getBytes(StandardCharsets.UTF_8);
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Cannot hash the configuration: this Java has no SHA-256", e);
        }
    }

    static List<String> fixedDifferences(BellowsConfig before, BellowsConfig now) {
        SortedMap<String, JsonNode> old = fixed(before);
        SortedMap<String, JsonNode> changed = fixed(now);
        List<String> differences = new ArrayList<>();
        old.forEach((key, value) -> {
            if (!value.equals(changed.get(key))) {
                differences.add(key + " was " + value + ", is now " + changed.get(key));
            }
        });
        return differences;
    }

    static SortedSet<String> keysThatDiffer(BellowsConfig one, BellowsConfig other) {
        SortedMap<String, JsonNode> values = values(one, key -> true);
        values.entrySet().removeAll(values(other, key -> true).entrySet());
        return new TreeSet<>(values.keySet());
    }

    private static SortedMap<String, JsonNode> fixed(BellowsConfig config) {
        return values(config, key -> key.onResume() == OnResume.FIXED);
    }

    private static SortedMap<String, JsonNode> values(BellowsConfig config, Predicate<Key> wanted) {
        ObjectNode root = write(config);
        SortedMap<String, JsonNode> values = new TreeMap<>();
        for (Key key : BellowsConfig.keys()) {
            if (wanted.test(key)) {
                values.put(key.name(), root.at("/" + key.name().replace('.', '/')));
            }
        }
        return values;
    }

    private static JsonNode toNode(Object value) {
        if (value instanceof Record section) {
            return write(section);
        }
        if (value instanceof List<?> list) {
            var array = JSON.createArrayNode();
            list.forEach(element -> array.add(toNode(element)));
            return array;
        }
        return JSON.valueToTree(value);
    }

    private static Object read(RecordComponent component, Record config) {
        try {
            return component.getAccessor().invoke(config);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("Cannot read " + component + " of a configuration record", e);
        }
    }
}
