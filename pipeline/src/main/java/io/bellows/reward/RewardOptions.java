package io.bellows.reward;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The options of one configured reward function. Every question names its default; what nobody asked for is an unknown
 * option.
 */
public final class RewardOptions {

    private final Map<String, Object> values;
    private final Set<String> known = new HashSet<>();

    /** Options as the configuration has them. */
    public RewardOptions(Map<String, Object> values) {
        this.values = values;
    }

    /** A text that must be there. */
    public String text(String key) {
        if (value(key) == null) {
            throw new IllegalArgumentException("Invalid options: '" + key + "' is missing; give it a value");
        }
        return text(key, null);
    }

    /** A text. */
    public String text(String key, String defaultValue) {
        Object value = value(key);
        return value == null ? defaultValue : String.valueOf(value);
    }

    /** A finite number. */
    public double number(String key, double defaultValue) {
        Object value = value(key);
        if (value == null) {
            return defaultValue;
        }
        try {
            double number = Double.parseDouble(String.valueOf(value));
            if (Double.isFinite(number)) {
                return number;
            }
        } catch (NumberFormatException e) {
            // answered below, with the key
        }
        throw new IllegalArgumentException("Invalid " + key + "=" + value + ": expected a finite number");
    }

    /** A whole number that must be there. */
    public int integer(String key) {
        try {
            return Integer.parseInt(text(key));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("Invalid " + key + "=" + value(key) + ": expected a whole number", e);
        }
    }

    /** One of the constants of an enum, in lower case. */
    public <E extends Enum<E>> E choice(String key, E defaultValue) {
        Object value = value(key);
        if (value == null) {
            return defaultValue;
        }
        List<E> constants = Arrays.asList(defaultValue.getDeclaringClass().getEnumConstants());
        return constants.stream()
                .filter(constant -> lower(constant).equals(String.valueOf(value)))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("Invalid " + key + "=" + value + ": expected one of "
                        + constants.stream().map(RewardOptions::lower).toList()));
    }

    /** Options no question was asked about, in the order of the configuration. */
    List<String> unknown() {
        List<String> unknown = new ArrayList<>(values.keySet());
        unknown.removeAll(known);
        return unknown;
    }

    private Object value(String key) {
        known.add(key);
        return values.get(key);
    }

    private static String lower(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
