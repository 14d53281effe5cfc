package io.bellows.config;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;

/** Reads numbers, truth values and texts of YAML. */
final class Scalars {

    private Scalars() {}

    static Object read(Class<?> type, JsonNode node) throws InvalidValue {
        if (type == String.class) {
            return text(node);
        }
        if (type == boolean.class || type == Boolean.class) {
            return truth(node);
        }
        if (type == double.class || type == Double.class) {
            return number(node).doubleValue();
        }
        try {
            BigDecimal whole = number(node);
            return type == long.class || type == Long.class
                    ? (Object) whole.longValueExact()
                    : (Object) whole.intValueExact();
        } catch (ArithmeticException e) {
            throw new InvalidValue("expected a whole number, such as 128");
        }
    }

    static String range(double min, double max, boolean fractional) {
        if (Double.isInfinite(max)) {
            return "expected at least " + shown(min, fractional);
        }
        if (Double.isInfinite(min)) {
            return "expected at most " + shown(max, fractional);
        }
        return "expected a number from " + shown(min, fractional) + " to " + shown(max, fractional);
    }

    private static String shown(double bound, boolean fractional) {
        return fractional ? String.valueOf(bound) : String.valueOf((long) bound);
    }

    private static String text(JsonNode node) throws InvalidValue {
        if (!node.isValueNode() || node.isNull()) {
            throw new InvalidValue("expected one text");
        }
        return node.asText();
    }

    private static boolean truth(JsonNode node) throws InvalidValue {
        // YAML 1.2 knows true and false only; verl's examples write True and False.
        return switch (node.asText()) {
            case "true", "True" -> true;
            case "false", "False" -> false;
            default -> throw new InvalidValue("expected true or false");
        };
    }

    private static BigDecimal number(JsonNode node) throws InvalidValue {
        try {
            // A number such as 1e-6, without a point, is a text to YAML 1.1.
            if (node.isNumber() || node.isTextual()) {
                return new BigDecimal(node.asText().strip());
            }
        } catch (NumberFormatException e) {
            throw new InvalidValue("expected a number");
        }
        throw new InvalidValue("expected a number");
    }
}
