package io.bellows.env;

/**
 * Makes the environments of one name.
 *
 * <p>A jar adds environments of its own by a public implementation of this interface, with a constructor without arguments, named in {@code
 * META-INF/services/io.bellows.env.EnvironmentFactory}. A rollout task makes one factory of each name that its rows use: what trajectories
 * share belongs to it, and is freed by its {@link Teardown} methods.
 */
public interface EnvironmentFactory {

    /** The name in the column {@code agent_name} and in {@code rollout.agent.default_agent_loop}. */
    String name();

    /**
     * Gets ready, once before the first environment.
     *
     * @param settings what the configuration says
     */
    default void open(EnvironmentSettings settings) {}

    /** Makes the environment of one trajectory. Called by several threads at once. */
    MultiTurnEnv create();

    /**
     * The same where the row decides; what it throws fails the trajectory.
     *
     * @param example the row
     */
    default MultiTurnEnv create(Example example) {
        return create();
    }
}
