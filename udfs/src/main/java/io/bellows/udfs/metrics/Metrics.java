package io.bellows.udfs.metrics;

import java.io.Serializable;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * Immutable, ordered set of named metric parts. Parts of micro-batches, ranks and mini-batches are put together by
 * {@link #merge}; merging in a fixed order gives a fixed result.
 */
public final class Metrics implements Serializable {
    private static final Metrics EMPTY = new Metrics(Map.of());

    private final Map<String, Metric> parts;

    private Metrics(Map<String, Metric> parts) {
        this.parts = parts;
    }

    /** No metric at all: the neutral element of {@link #merge}. */
    public static Metrics empty() {
        return EMPTY;
    }

    /**
     * These metrics and one more part; a part of the same name is merged with it.
     *
     * @throws IllegalArgumentException if the name is present with another reduction
     */
    public Metrics with(String name, Metric part) {
        Map<String, Metric> merged = new LinkedHashMap<>(parts);
        add(merged, name, part);
        return new Metrics(merged);
    }

    /**
     * These metrics and others, name by name.
     *
     * @throws IllegalArgumentException if a name is present in both with different reductions
     */
    public Metrics merge(Metrics other) {
        Map<String, Metric> merged = new LinkedHashMap<>(parts);
        other.forEach((name, part) -> add(merged, name, part));
        return new Metrics(merged);
    }

    /** Calls {@code action} with every name and part, in the order in which the names were first added. */
    public void forEach(BiConsumer<String, Metric> action) {
        parts.forEach(action);
    }

    /**
     * The reduced values by name, in order. A metric without a value, such as a mean over nothing, is left out rather than
     * reported as 0 or NaN.
     */
    public Map<String, Double> values() {
        Map<String, Double> values = new LinkedHashMap<>();
        parts.forEach((name, part) -> {
            if (part.hasValue()) {
                values.put(name, part.value());
            }
        });
        return values;
    }

    private static void add(Map<String, Metric> target, String name, Metric part) {
        Metric present = target.get(name);
        if (present == null) {
            target.put(name, part);
            return;
        }
        try {
            target.put(name, present.merge(part));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(e.getMessage() + ": " + name, e);
        }
    }
}
