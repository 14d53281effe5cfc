package io.bellows.tool;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Modifier;

/** A class that implements {@link NativeTool}, with the configuration its instances get. */
final class NativeToolClass {

    private static final ObjectMapper CONFIG = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
            .build();

    private final Constructor<?> constructor;
    private final Object[] constructorArguments;

    /**
     * Binds a configuration.
     *
     * @throws IllegalArgumentException when the class is no native tool or the configuration does not fit
     */
    NativeToolClass(Class<?> type, JsonNode config) {
        if (!NativeTool.class.isAssignableFrom(type) || Modifier.isAbstract(type.getModifiers())) {
            throw new IllegalArgumentException("Unsupported class_name '" + type.getName() + "': it does not implement "
                    + NativeTool.class.getName());
        }
        Constructor<?>[] constructors = type.getConstructors();
        if (!Modifier.isPublic(type.getModifiers())
                || constructors.length != 1
                || constructors[0].getParameterCount() > 1) {
            throw new IllegalArgumentException("Unsupported class_name '" + type.getName()
                    + "': it must be public with one public constructor, of no argument or one record");
        }
        this.constructor = constructors[0];
        this.constructorArguments = arguments(config);
    }

    NativeTool newInstance() throws Exception {
        try {
            return (NativeTool) constructor.newInstance(constructorArguments);
        } catch (InvocationTargetException e) {
            throw FunctionToolMethod.cause(e);
        }
    }

    /**
     * The configured schema, or else the one that the class brings.
     *
     * @throws IllegalArgumentException when the constructor refuses the configuration, or there is no schema
     */
    ObjectNode schema(JsonNode configured) {
        String own = checkedInstance().toolSchema();
        if (configured != null && !configured.isNull()) {
            return ToolSchema.checked(configured);
        }
        String name = constructor.getDeclaringClass().getName();
        if (own == null) {
            throw new IllegalArgumentException("Invalid tool " + name + ": it brings no schema; add tool_schema");
        }
        try {
            return ToolSchema.checked(CONFIG.readTree(own));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("Invalid schema of " + name + ": " + e.getOriginalMessage(), e);
        }
    }

    /** An instance only to see whether the constructor accepts the configuration. */
    private NativeTool checkedInstance() {
        try {
            return newInstance();
        } catch (Exception e) {
            throw new IllegalArgumentException(
                    "Invalid config of " + constructor.getDeclaringClass().getName() + ": " + e.getMessage(), e);
        }
    }

    private Object[] arguments(JsonNode config) {
        boolean empty = config == null || config.isNull() || config.isEmpty();
        String name = constructor.getDeclaringClass().getName();
        if (constructor.getParameterCount() == 0) {
            if (!empty) {
                throw new IllegalArgumentException("Unsupported config " + config + " of " + name + ": it takes none");
            }
            return new Object[0];
        }
        try {
            return new Object[] {
                CONFIG.convertValue(
                        empty ? CONFIG.createObjectNode() : config, constructor.getParameterTypes()[0])
            };
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("Invalid config of " + name + ": " + firstLine(e), e);
        }
    }

    private static String firstLine(Exception e) {
        return String.valueOf(e.getMessage()).lines().findFirst().orElse("");
    }
}
