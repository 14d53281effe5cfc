package io.bellows.engine;

import java.util.List;

/**
 * How tokens are drawn. Tokens less likely than {@code minP} times the likeliest are dropped first, then all but the
 * {@code topK} likeliest, then all but the likeliest that together hold {@code topP} of what is left.
 *
 * @param temperature logits are divided by it; 0 takes the likeliest token, with log-probs at temperature 1
 * @param topK how many of the likeliest tokens may be drawn, or -1 for all
 * @param topP share of the probability that may be drawn, in (0, 1]
 * @param minP least probability relative to the likeliest token, in [0, 1]
 * @param maxTokens most tokens to generate, at least 1
 * @param stopIds ids that end a generation; the one that ended it is part of it
 * @param stop texts that end a generation at the token that completes one
 */
public record SamplingParams(
        double temperature, int topK, double topP, double minP, int maxTokens, int[] stopIds, List<String> stop) {

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if a value is out of its range; the text names it
     */
    public SamplingParams {
        boolean usable = temperature == 0 || (Double.isFinite(temperature) && 1 / temperature <= Float.MAX_VALUE);
        require(temperature >= 0 && usable, "temperature", temperature, "0, or a finite number of at least 1e-38");
        require(topK == -1 || topK > 0, "top_k", topK, "-1 or a positive number");
        require(topP > 0 && topP <= 1, "top_p", topP, "a number in (0, 1]");
        require(minP >= 0 && minP <= 1, "min_p", minP, "a number in [0, 1]");
        require(maxTokens > 0, "max_tokens", maxTokens, "at least 1");
        stopIds = stopIds.clone();
        stop = List.copyOf(stop);
        for (String text : stop) {
            require(!text.isEmpty(), "stop", "''", "texts that are not empty");
        }
    }

    private static void require(boolean valid, String name, Object value, String expected) {
        if (!valid) {
            throw new IllegalArgumentException("Invalid " + name + " " + value + ": expected " + expected);
        }
    }

    /**
     * The likeliest token at each step.
     *
     * @param maxTokens most tokens to generate
     * @param stopIds ids that end a generation
     * @return the parameters
     */
    public static SamplingParams greedy(int maxTokens, int... stopIds) {
        return new SamplingParams(0, -1, 1, 0, maxTokens, stopIds, List.of());
    }

    /**
     * Draws from the full distribution.
     *
     * @param temperature logits are divided by it
     * @param maxTokens most tokens to generate
     * @param stopIds ids that end a generation
     * @return the parameters
     */
    public static SamplingParams sampled(double temperature, int maxTokens, int... stopIds) {
        return new SamplingParams(temperature, -1, 1, 0, maxTokens, stopIds, List.of());
    }

    boolean isGreedy() {
        return temperature == 0;
    }

    /** How many of the likeliest tokens the filters need to see: with top-k no more than k, without filters none. */
    int candidates() {
        if (isGreedy() || (topK == -1 && topP == 1 && minP == 0)) {
            return 0;
        }
        return topK == -1 ? Integer.MAX_VALUE : topK;
    }
}
