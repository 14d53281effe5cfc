package io.bellows.tool;

/**
 * What a tool says of the state that a trajectory left it in.
 *
 * @param tool the tool's name
 * @param reward the reward, finite; null when the tool has none to give or failed
 * @param error why it failed; null when it did not
 */
public record ToolReward(String tool, Double reward, ToolError error) {}
