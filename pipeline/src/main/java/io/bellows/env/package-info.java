/**
 * Environments: what a policy acts in, turn by turn, and how a trajectory ends.
 *
 * <p>A subclass of {@link io.bellows.env.MultiTurnEnv} says what the environment answers and, by annotated methods, when it is over,
 * what it is worth and what has to be cleaned up. It never sees the engine, only messages.
 */
package io.bellows.env;
