package io.bellows.config;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Makes configuration records of a JSON tree. An error is noted and the default taken in its place, so that one pass finds
 * every error.
 */
final class Binder {

    private final ObjectMapper yaml;
    private final Errors errors;

    Binder(ObjectMapper yaml, Errors errors) {
        this.yaml = yaml;
        this.errors = errors;
    }

    /** Binds {@code node}, whose keys have the full name {@code prefix + key}. */
    <T extends Record> T bind(Class<T> type, JsonNode node, String prefix) {
        RecordComponent[] components = type.getRecordComponents();
        ObjectNode object = object(node, prefix);
        Set<String> named = new HashSet<>();
        Object[] values = new Object[components.length];
        Class<?>[] types = new Class<?>[components.length];
        for (int i = 0; i < components.length; i++) {
            types[i] = components[i].getType();
            if (!components[i].isAnnotationPresent(OtherKeys.class)) {
                String key = Key.nameOf(components[i]);
                named.add(key);
                values[i] = component(components[i], object.get(key), prefix + key);
            }
        }
        Map<String, JsonNode> others = others(object, named);
        for (int i = 0; i < components.length; i++) {
            if (components[i].isAnnotationPresent(OtherKeys.class)) {
                values[i] = otherKeys(components[i], others);
                others = Map.of();
            }
        }
        others.forEach((key, value) -> errors.unknownKey(prefix + key, value));
        return create(type, types, values);
    }

    private Object component(RecordComponent component, JsonNode given, String name) {
        Setting setting = component.getAnnotation(Setting.class);
        if (setting == null) {
            return bind(component.getType().asSubclass(Record.class), withOtherDefault(component, given), name + ".");
        }
        if (given != null && !given.isNull()) {
            try {
                Object value = value(component.getGenericType(), given, name);
                check(setting, value, name);
                return value;
            } catch (InvalidValue e) {
                errors.add("Invalid " + name + " = " + shown(given) + ": " + e.getMessage());
            }
        } else if (given != null && !setting.value().equals("null")) {
            errors.add("Invalid " + name + " = null: it needs a value, its default is " + setting.value());
        }
        return defaultOf(component, setting, name);
    }

    private JsonNode withOtherDefault(RecordComponent section, JsonNode given) {
        OtherDefault other = section.getAnnotation(OtherDefault.class);
        if (other == null || (given != null && given.has(other.key()))) {
            return given;
        }
        ObjectNode keys = given instanceof ObjectNode object ? object.deepCopy() : yaml.createObjectNode();
        try {
            return keys.set(other.key(), yaml.readTree(other.value()));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("Invalid default of " + other.key() + ": " + other.value(), e);
        }
    }

    private Object defaultOf(RecordComponent component, Setting setting, String name) {
        try {
            JsonNode node = yaml.readTree(setting.value());
            return node.isNull() ? null : value(component.getGenericType(), node, name);
        } catch (JsonProcessingException | InvalidValue e) {
            throw new IllegalStateException("Invalid default of " + name + ": " + setting.value(), e);
        }
    }

    private Object value(Type type, JsonNode node, String name) throws InvalidValue {
        if (type instanceof ParameterizedType generic) {
            Type element = generic.getActualTypeArguments()[generic.getActualTypeArguments().length - 1];
            return generic.getRawType() == List.class ? list(element, node, name) : map(node);
        }
        if (type instanceof Class<?> record && record.isRecord()) {
            if (!node.isObject()) {
                throw new InvalidValue("expected an object, such as {name: exact_match, weight: 1.0}");
            }
            return bind(record.asSubclass(Record.class), node, name + ".");
        }
        return Scalars.read((Class<?>) type, node);
    }

    private List<Object> list(Type element, JsonNode node, String name) throws InvalidValue {
        // A single value stands for a list of one, as in verl's data.train_files.
        List<Object> values = new ArrayList<>();
        if (node.isArray()) {
            for (int i = 0; i < node.size(); i++) {
                values.add(value(element, node.get(i), name + "[" + i + "]"));
            }
        } else {
            values.add(value(element, node, name));
        }
        return Collections.unmodifiableList(values);
    }

    private Map<String, Object> map(JsonNode node) throws InvalidValue {
        if (!node.isObject()) {
            throw new InvalidValue("expected an object, such as {enable_thinking: false}");
        }
        Map<String, Object> values = new TreeMap<>();
        node.properties()
                .forEach(entry -> values.put(entry.getKey(), yaml.convertValue(entry.getValue(), Object.class)));
        return Collections.unmodifiableMap(values);
    }

    private Map<String, Object> otherKeys(RecordComponent component, Map<String, JsonNode> others) {
        boolean texts = component.getGenericType().getTypeName().endsWith("java.lang.String>");
        Map<String, Object> values = new TreeMap<>();
        others.forEach(
                (key, value) -> values.put(key, texts ? value.asText() : yaml.convertValue(value, Object.class)));
        return Collections.unmodifiableMap(values);
    }

    private ObjectNode object(JsonNode node, String prefix) {
        if (node instanceof ObjectNode object) {
            return object;
        }
        if (node != null && !node.isNull()) {
            String section = prefix.isEmpty() ? "the file" : prefix.substring(0, prefix.length() - 1);
            errors.add("Invalid " + section + " = " + shown(node) + ": expected keys and values");
        }
        return yaml.createObjectNode();
    }

    private static Map<String, JsonNode> others(ObjectNode object, Set<String> named) {
        Map<String, JsonNode> others = new LinkedHashMap<>();
        object.properties().forEach(entry -> {
            if (!named.contains(entry.getKey())) {
                others.put(entry.getKey(), entry.getValue());
            }
        });
        return others;
    }

    private static void check(Setting setting, Object value, String name) throws InvalidValue {
        if (value instanceof List<?> elements) {
            for (Object element : elements) {
                check(setting, element, name);
            }
        } else if (value instanceof Number number) {
            double x = number.doubleValue();
            if (!(x >= setting.min() && x <= setting.max())) {
                throw new InvalidValue(Scalars.range(setting.min(), setting.max(), value instanceof Double));
            }
        } else if (value instanceof String text
                && setting.oneOf().length > 0
                && !List.of(setting.oneOf()).contains(text)) {
            throw new InvalidValue("use one of " + String.join(", ", setting.oneOf()));
        }
    }

    private static String shown(JsonNode node) {
        return node.isTextual() ? "'" + node.asText() + "'" : node.toString();
    }

    private static <T extends Record> T create(Class<T> type, Class<?>[] types, Object[] values) {
        try {
            return type.getDeclaredConstructor(types).newInstance(values);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("Cannot create the configuration record " + type.getName(), e);
        }
    }
}
