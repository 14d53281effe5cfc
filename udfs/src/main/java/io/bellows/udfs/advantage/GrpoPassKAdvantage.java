package io.bellows.udfs.advantage;

import io.bellows.udfs.advantage.GrpoAdvantage.Normalization;
import java.util.List;

/**
 * Advantages for pass@k: only the best sample of a group has one, its lead over the second best, divided by the standard deviation
 * if so configured (Tang et al., "Optimizing Language Models for Inference Time Objectives using Reinforcement Learning", arXiv
 * 2503.19595). verl's {@code grpo_passk}.
 *
 * <p>Differs from verl on purpose: trajectories that failed are absent; a group with fewer than two valid trajectories, where verl
 * raises, has advantages of 0.
 *
 * @param normalization whether the lead is divided by the standard deviation
 */
public record GrpoPassKAdvantage(Normalization normalization) implements OutcomeAdvantage {

    @Override
    public double[] outcomes(List<Sample> group) {
        return advantages(OutcomeAdvantage.scores(group), normalization);
    }

    /**
     * Advantages of the trajectories of one group.
     *
     * @param scores one score per trajectory; NaN or infinite for one that failed or was not scored
     * @return one advantage per trajectory, at most one of them not 0
     */
    public static double[] advantages(double[] scores, Normalization normalization) {
        GroupStatistics group = GroupStatistics.of(scores);
        double[] advantages = new double[scores.length];
        if (group.isUniform()) {
            return advantages;
        }
        int best = -1;
        double second = Double.NEGATIVE_INFINITY;
        for (int i = 0; i < scores.length; i++) {
            if (!Double.isFinite(scores[i])) {
                continue;
            }
            if (best < 0 || scores[i] > scores[best]) {
                second = best < 0 ? second : scores[best];
                best = i;
            } else {
                second = Math.max(second, scores[i]);
            }
        }
        advantages[best] = (scores[best] - second) * normalization.scale(group);
        return advantages;
    }
}
