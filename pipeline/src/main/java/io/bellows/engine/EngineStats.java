package io.bellows.engine;

/**
 * Counts since the engine started.
 *
 * @param promptTokens prompt tokens read; a prompt counts once for all of its samples
 * @param generatedTokens tokens sampled
 * @param steps decode steps run
 * @param active sequences that hold a slot now
 * @param waiting samples that wait for a slot now
 */
public record EngineStats(long promptTokens, long generatedTokens, long steps, int active, int waiting) {}
