package io.bellows.trajectory;

import java.io.Serializable;
import java.util.Locale;

/**
 * How a trajectory ended.
 *
 * @param status completed, truncated or failed
 * @param stopCondition the condition that ended it, or null
 * @param errorKind kind of the error, only when failed
 * @param errorMessage its message, only when failed
 */
public record Outcome(Status status, String stopCondition, String errorKind, String errorMessage)
        implements Serializable {

    /** The three ways. */
    public enum Status {
        /** The policy or the environment came to its end. */
        COMPLETED,
        /** A limit on tokens, turns or time was met. */
        TRUNCATED,
        /** An error; the trajectory is absent from statistics and loss. */
        FAILED;

        /** The value of the column {@code status}. */
        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Ended by itself, by {@code stopCondition}. */
    public static Outcome completed(String stopCondition) {
        return new Outcome(Status.COMPLETED, stopCondition, null, null);
    }

    /** Cut by the limit {@code stopCondition}. */
    public static Outcome truncated(String stopCondition) {
        return new Outcome(Status.TRUNCATED, stopCondition, null, null);
    }

    /** Failed by an error of a kind. */
    public static Outcome failed(String errorKind, String errorMessage) {
        return new Outcome(Status.FAILED, null, errorKind, errorMessage);
    }
}
