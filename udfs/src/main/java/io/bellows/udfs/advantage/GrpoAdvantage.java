package io.bellows.udfs.advantage;

import java.util.List;

/**
 * Group-relative advantages: {@code (score − mean) / (std + 1e-6)} over the samples of one prompt (GRPO, Shao et al., arXiv
 * 2402.03300), or {@code score − mean} (Dr. GRPO, Liu et al., arXiv 2503.20783). verl's {@code grpo}.
 *
 * <p>Differs from verl on purpose: trajectories that failed are absent from mean and standard deviation and have advantage 0; a
 * group whose valid scores are all equal has advantages of exactly 0, not float residue; a group with one valid trajectory has
 * advantage 0, not its raw score (see {@link GroupStatistics#isSingleton}). A trajectory with an empty response counts in its
 * group like any other; it has no token that could carry the advantage.
 *
 * @param normalization whether differences are divided by the standard deviation
 */
public record GrpoAdvantage(Normalization normalization) implements OutcomeAdvantage {
    private static final double EPSILON = 1e-6;

    /** Whether differences are divided by the standard deviation, verl's {@code algorithm.norm_adv_by_std_in_grpo}. */
    public enum Normalization {
        /** GRPO. */
        BY_STD,
        /** Dr. GRPO. */
        NONE;

        /** What a difference between scores of a group is multiplied with. */
        double scale(GroupStatistics group) {
            return this == BY_STD ? 1 / (group.std() + EPSILON) : 1;
        }
    }

    @Override
    public double[] outcomes(List<Sample> group) {
        return advantages(OutcomeAdvantage.scores(group), normalization);
    }

    /**
     * Advantages of the trajectories of one group.
     *
     * @param scores one score per trajectory; NaN or infinite for one that failed or was not scored
     * @return one advantage per trajectory, 0 for those without a finite score
     */
    public static double[] advantages(double[] scores, Normalization normalization) {
        GroupStatistics group = GroupStatistics.of(scores);
        return group.differences(scores, group.mean(), normalization.scale(group));
    }
}
