package io.bellows.reward;

/**
 * What one reward function says of one trajectory.
 *
 * <p>A wrong answer is a value, 0 as a rule. "Cannot say" (no response, no reference answer) is unscored, and a fault of
 * the function is failed; neither is ever turned into 0.
 *
 * @param status which of the three it is
 * @param value the score, finite; null unless scored
 * @param reason why there is no value; null when scored
 */
public record RewardOutcome(Status status, Double value, String reason) {

    /** How scoring ended. */
    public enum Status {
        /** There is a value. */
        SCORED,
        /** The function has nothing to say about this trajectory. */
        UNSCORED,
        /** The function broke, or its value was no finite number. */
        FAILED
    }

    /** A score; NaN and infinities become {@link #failed}. */
    public static RewardOutcome of(double value) {
        return Double.isFinite(value)
                ? new RewardOutcome(Status.SCORED, value, null)
                : failed("Invalid reward " + value + ": a reward must be a finite number");
    }

    /** No statement about this trajectory. */
    public static RewardOutcome unscored(String reason) {
        return new RewardOutcome(Status.UNSCORED, null, reason);
    }

    /** An error of the function on this trajectory. */
    public static RewardOutcome failed(String reason) {
        return new RewardOutcome(Status.FAILED, null, reason);
    }
}
