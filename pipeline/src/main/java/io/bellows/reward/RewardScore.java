package io.bellows.reward;

import java.util.Map;

/**
 * The reward of one trajectory with what it is made of.
 *
 * @param reward the weighted sum; null unless every function that counts has scored
 * @param components value by function name, in configured order; null where that function has none
 * @param status scored, unscored, or failed when any function failed
 * @param message why there is no value, by function, joined; null when all scored
 */
public record RewardScore(Double reward, Map<String, Double> components, RewardOutcome.Status status, String message) {}
