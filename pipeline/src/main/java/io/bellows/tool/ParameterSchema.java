package io.bellows.tool;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * JSON schemas of Java types: texts, numbers, booleans, enums, collections, arrays, maps with text keys, records, and JSON itself.
 * {@link Optional} stands for what may be left out.
 */
final class ParameterSchema {

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .build();
    private static final Set<Class<?>> WHOLE = Set.of(
            byte.class,
            short.class,
            int.class,
            long.class,
            Byte.class,
            Short.class,
            Integer.class,
            Long.class,
            BigInteger.class);
    private static final Set<Class<?>> DECIMAL =
            Set.of(float.class, double.class, Float.class, Double.class, BigDecimal.class, Number.class);

    private final Set<Class<?>> open = new HashSet<>();
    private final String where;

    private ParameterSchema(String where) {
        this.where = where;
    }

    /**
     * The schema of a method's arguments, by name.
     *
     * @throws IllegalArgumentException when a parameter has a type without a schema, or no name
     */
    static ObjectNode of(Method method) {
        String where = method.getDeclaringClass().getName() + "." + method.getName();
        ObjectNode object = ToolSchema.emptyObject();
        for (Parameter parameter : method.getParameters()) {
            if (!parameter.isNamePresent()) {
                throw new IllegalArgumentException("Invalid method " + where
                        + ": its parameters have no names in the class file; compile it with javac -parameters");
            }
            new ParameterSchema(where)
                    .property(
                            object,
                            parameter.getName(),
                            parameter.getParameterizedType(),
                            parameter.getAnnotation(Param.class));
        }
        return object.put("additionalProperties", false);
    }

    /** The type inside an {@link Optional}, else the type. */
    static Type valueType(Type type) {
        return isOptional(type) ? ((ParameterizedType) type).getActualTypeArguments()[0] : type;
    }

    /** A JSON value as a Java value. */
    static Object convert(JsonNode value, Type type) {
        return JSON.convertValue(value, JSON.constructType(type));
    }

    private void property(ObjectNode object, String name, Type type, Param description) {
        ObjectNode schema = schema(JSON.constructType(valueType(type)));
        if (description != null) {
            schema.put("description", description.value());
        }
        ((ObjectNode) object.get("properties")).set(name, schema);
        if (!isOptional(type)) {
            object.withArray("required").add(name);
        }
    }

    private ObjectNode schema(JavaType type) {
        Class<?> raw = type.getRawClass();
        ObjectNode schema = JSON.createObjectNode();
        if (raw == String.class || raw == CharSequence.class) {
            return schema.put("type", "string");
        } else if (WHOLE.contains(raw)) {
            return schema.put("type", "integer");
        } else if (DECIMAL.contains(raw)) {
            return schema.put("type", "number");
        } else if (raw == boolean.class || raw == Boolean.class) {
            return schema.put("type", "boolean");
        } else if (raw.isEnum()) {
            ArrayNode constants = schema.put("type", "string").putArray("enum");
            for (Object constant : raw.getEnumConstants()) {
                constants.add(((Enum<?>) constant).name());
            }
            return schema;
        } else if (raw == ObjectNode.class) {
            return schema.put("type", "object");
        } else if (raw == JsonNode.class || raw == Object.class) {
            return schema;
        }
        return composite(type, raw, schema);
    }

    private ObjectNode composite(JavaType type, Class<?> raw, ObjectNode schema) {
        if (Collection.class.isAssignableFrom(raw) || raw.isArray()) {
            return schema.put("type", "array").set("items", schema(type.getContentType()));
        } else if (Map.class.isAssignableFrom(raw) && type.getKeyType().getRawClass() == String.class) {
            return schema.put("type", "object").set("additionalProperties", schema(type.getContentType()));
        } else if (raw.isRecord() && open.add(raw)) {
            ObjectNode object = ToolSchema.emptyObject();
            for (RecordComponent component : raw.getRecordComponents()) {
                property(object, component.getName(), component.getGenericType(), component.getAnnotation(Param.class));
            }
            open.remove(raw);
            return object.put("additionalProperties", false);
        }
        throw new IllegalArgumentException("Unsupported type " + type.toCanonical() + " in the parameters of " + where
                + ": expected texts, numbers, booleans, enums, lists, arrays, maps by text, or records of these, not inside"
                + " themselves");
    }

    private static boolean isOptional(Type type) {
        return type instanceof ParameterizedType parameterized && parameterized.getRawType() == Optional.class;
    }
}
