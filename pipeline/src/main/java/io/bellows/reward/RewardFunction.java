package io.bellows.reward;

import java.io.Serializable;

/** Scores one trajectory. Instances travel to executors and are called from several threads: keep them stateless. */
@FunctionalInterface
public interface RewardFunction extends Serializable {

    /**
     * Scores a trajectory. An exception thrown here is an error of that trajectory only.
     *
     * @param input what is known of the trajectory; its response may be null
     */
    RewardOutcome score(RewardInput input);
}
