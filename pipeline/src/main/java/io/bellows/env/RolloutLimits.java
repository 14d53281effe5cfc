package io.bellows.env;

import java.time.Duration;

/**
 * What a trajectory may use up.
 *
 * @param maxPromptTokens longest prompt that begins it ({@code data.max_prompt_length})
 * @param maxResponseTokens tokens of all that follows, sampled and put in ({@code data.max_response_length})
 * @param maxSequenceTokens longest sequence that the model takes
 * @param timeout time for setup, tools, model and scoring together, or null for no limit
 * @param cleanupTimeout time for each cleanup
 */
public record RolloutLimits(
        int maxPromptTokens, int maxResponseTokens, int maxSequenceTokens, Duration timeout, Duration cleanupTimeout) {}
