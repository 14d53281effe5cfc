package io.bellows.udfs.advantage;

import java.util.List;

/**
 * Score less the mean of the other samples of the prompt (RLOO, Ahmadian et al., "Back to Basics", arXiv 2402.14740). verl's
 * {@code rloo} and {@code rloo_vectorized}.
 *
 * <p>Differs from verl on purpose: trajectories that failed are absent; a group with one valid trajectory has advantage 0, where
 * verl's {@code rloo} has the raw score and {@code rloo_vectorized} 0; equal scores give exactly 0.
 */
public record RlooAdvantage() implements OutcomeAdvantage {

    @Override
    public double[] outcomes(List<Sample> group) {
        return advantages(OutcomeAdvantage.scores(group));
    }

    /**
     * Advantages of the trajectories of one group.
     *
     * @param scores one score per trajectory; NaN or infinite for one that failed or was not scored
     * @return one advantage per trajectory, 0 for those without a finite score
     */
    public static double[] advantages(double[] scores) {
        GroupStatistics group = GroupStatistics.of(scores);
        // s − (sum − s)/(n − 1), rewritten as the distance from the mean of all.
        return group.differences(scores, group.mean(), group.valid() / (group.valid() - 1.0));
    }
}
