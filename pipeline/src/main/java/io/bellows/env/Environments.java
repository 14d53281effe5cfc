package io.bellows.env;

import io.bellows.env.Handlers.Handler;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.TreeMap;
import java.util.function.Supplier;

/** The environments that a rollout task knows by name, each made ready when a row first asks for it. */
public final class Environments implements AutoCloseable {

    /** verl's names of the built-in ones. */
    private static final Map<String, String> ALIASES = Map.of("single_turn_agent", SingleTurnFactory.NAME);

    private static final List<Supplier<EnvironmentFactory>> BUILT_IN =
            List.of(SingleTurnFactory::new, ToolEnvFactory::new);

    private final EnvironmentSettings settings;
    private final Map<String, EnvironmentFactory> known = new TreeMap<>();
    private final Map<String, EnvironmentFactory> open = new LinkedHashMap<>();

    /**
     * The built-in environments, and those that jars on the class path declare.
     *
     * @throws IllegalArgumentException if two have one name
     */
    public Environments(EnvironmentSettings settings) {
        this.settings = settings;
        BUILT_IN.forEach(factory -> add(factory.get()));
        ServiceLoader.load(EnvironmentFactory.class, Thread.currentThread().getContextClassLoader())
                .forEach(this::add);
    }

    private void add(EnvironmentFactory factory) {
        if (known.putIfAbsent(factory.name(), factory) != null) {
            throw new IllegalArgumentException(
                    "Invalid environment '" + factory.name() + "': two of that name are on the class path; rename one");
        }
    }

    /** Every name, sorted. */
    public List<String> names() {
        return List.copyOf(known.keySet());
    }

    /** The name under which an environment is known, also by verl's name for it. */
    public static String canonical(String name) {
        return ALIASES.getOrDefault(name, name);
    }

    /**
     * The factory of a name, ready to make environments.
     *
     * @throws IllegalArgumentException if there is none of that name, or it cannot get ready
     */
    public synchronized EnvironmentFactory named(String name) {
        EnvironmentFactory factory = known.get(canonical(name));
        if (factory == null) {
            throw new IllegalArgumentException("Unsupported environment '" + name + "': expected one of " + names());
        }
        if (!open.containsKey(factory.name())) {
            factory.open(settings);
            open.put(factory.name(), factory);
        }
        return factory;
    }

    /** Runs the teardown of every factory that was used; one that fails keeps the others from nothing. */
    @Override
    public synchronized void close() {
        RuntimeException first = null;
        for (EnvironmentFactory factory : open.values()) {
            for (Handler teardown : Handlers.of(factory.getClass(), Teardown.class)) {
                try {
                    teardown.call(factory);
                } catch (Exception e) {
                    first = first == null ? new IllegalStateException("Cannot tear down " + factory.name(), e) : first;
                }
            }
        }
        open.clear();
        if (first != null) {
            throw first;
        }
    }
}
