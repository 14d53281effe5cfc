package io.bellows.reward;

import java.util.List;

/** Scores the samples of one prompt together, where what one is worth depends on the others. Keep instances stateless, as with every {@link RewardFunction}. */
public interface GroupRewardFunction extends RewardFunction {

    /**
     * Scores a group. An exception thrown here is an error of every trajectory of the group.
     *
     * @param group the samples of one prompt in their order, without those that failed or have no token of the policy; at least one
     * @return an outcome for each, in the same order
     */
    List<RewardOutcome> scoreGroup(List<RewardInput> group);

    /** Scores a trajectory that is alone, such as a greedy one. */
    @Override
    default RewardOutcome score(RewardInput input) {
        return scoreGroup(List.of(input)).get(0);
    }
}
