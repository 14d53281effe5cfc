package io.bellows.env;

/**
 * Why a trajectory failed.
 *
 * @param kind what went wrong, in snake case: {@code environment}, {@code generation}, {@code template}, or what an {@link
 *     EnvironmentException} names
 * @param message the text of it
 */
public record Failure(String kind, String message) {}
