package io.bellows.reward;

/**
 * Makes a reward function from its configured options.
 *
 * <p>A jar adds functions of its own by a public implementation of this interface, with a constructor without arguments,
 * named in {@code META-INF/services/io.bellows.reward.RewardFactory}.
 */
public interface RewardFactory {

    /** The name in {@code reward.functions}. */
    String name();

    /**
     * Makes the function.
     *
     * @throws IllegalArgumentException naming option, value and remedy
     */
    RewardFunction create(RewardOptions options);
}
