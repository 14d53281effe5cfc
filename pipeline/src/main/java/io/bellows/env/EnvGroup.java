package io.bellows.env;

import com.fasterxml.jackson.databind.JsonNode;
import io.bellows.env.Handlers.Handler;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One environment made of several: a column of the dataset says by name in which of them a row's trajectories run. Rewards, metrics and stop
 * conditions are those of that one; what the others would have measured stays absent. The parts may be groups themselves.
 *
 * <p>A subclass with a constructor without arguments is declared like any {@link EnvironmentFactory}:
 *
 * <pre>{@code
 * public final class Arithmetic extends EnvGroup {
 *     public Arithmetic() {
 *         super("arithmetic", "task", List.of(new Sums(), new Products()));
 *     }
 * }
 * }</pre>
 */
public abstract class EnvGroup implements EnvironmentFactory {

    private final String name;
    private final String column;
    private final Map<String, EnvironmentFactory> parts = new LinkedHashMap<>();

    /**
     * A group.
     *
     * @param name the group's name
     * @param column a column of the dataset, or a field of its {@code info} or {@code extra_info}, that holds the name of a part
     * @param parts the environments by their names
     * @throws IllegalArgumentException if two parts have one name
     */
    protected EnvGroup(String name, String column, List<? extends EnvironmentFactory> parts) {
        this.name = name;
        this.column = column;
        for (EnvironmentFactory part : parts) {
            if (this.parts.putIfAbsent(part.name(), part) != null) {
                throw new IllegalArgumentException(
                        "Invalid group '" + name + "': two parts are called '" + part.name() + "'; rename one");
            }
        }
    }

    @Override
    public final String name() {
        return name;
    }

    @Override
    public void open(EnvironmentSettings settings) {
        parts.values().forEach(part -> part.open(settings));
    }

    @Override
    public final MultiTurnEnv create(Example example) {
        JsonNode value = example.columns().has(column)
                ? example.columns().get(column)
                : example.info().path(column);
        EnvironmentFactory part = parts.get(value.asText());
        if (part == null) {
            throw new IllegalArgumentException("Invalid " + column + " '" + value.asText() + "' for the environment '"
                    + name + "': expected one of " + parts.keySet());
        }
        return part.create(example);
    }

    @Override
    public final MultiTurnEnv create() {
        throw new UnsupportedOperationException("Cannot make '" + name + "' without a row: the row says which part");
    }

    /** Frees what the parts hold; one that fails keeps the others from nothing. */
    @Teardown
    public void tearDownParts() throws Exception {
        Exception first = null;
        for (EnvironmentFactory part : parts.values()) {
            for (Handler teardown : Handlers.of(part.getClass(), Teardown.class)) {
                try {
                    teardown.call(part);
                } catch (Exception e) {
                    first = first == null ? e : first;
                }
            }
        }
        if (first != null) {
            throw first;
        }
    }
}
