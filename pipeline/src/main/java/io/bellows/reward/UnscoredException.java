package io.bellows.reward;

/**
 * Thrown by a reward that has nothing to say about a trajectory, for a reason that should be recorded: a judge that cannot be reached, no reference
 * answer. The trajectory is unscored, which is neither 0 nor a failure of the reward.
 */
public final class UnscoredException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** An exception with the reason. */
    public UnscoredException(String reason) {
        super(reason);
    }
}
