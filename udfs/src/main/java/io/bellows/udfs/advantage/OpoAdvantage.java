package io.bellows.udfs.advantage;

import java.util.List;

/**
 * Score less the mean of the group weighted by length, {@code Σ length·score / Σ length}, which minimizes the variance of the
 * gradient on policy (OPO, Hao et al., arXiv 2505.23585). The length is the number of sampled tokens. verl's {@code opo}.
 *
 * <p>Differs from verl on purpose: trajectories that failed are absent; a group with one valid trajectory has advantage 0, not its
 * raw score; equal scores give exactly 0.
 */
public record OpoAdvantage() implements OutcomeAdvantage {

    @Override
    public double[] outcomes(List<Sample> group) {
        double[] lengths = group.stream()
                .mapToDouble(sample -> sample.sampledTokens().length)
                .toArray();
        return advantages(OutcomeAdvantage.scores(group), lengths);
    }

    /**
     * Advantages of the trajectories of one group.
     *
     * @param scores one score per trajectory; NaN or infinite for one that failed or was not scored
     * @param lengths sampled tokens of each trajectory
     * @return one advantage per trajectory, 0 for those without a finite score
     * @throws IllegalArgumentException if there are not as many lengths as scores
     */
    public static double[] advantages(double[] scores, double[] lengths) {
        if (scores.length != lengths.length) {
            throw new IllegalArgumentException(
                    "Invalid lengths: " + lengths.length + " for " + scores.length + " scores; give one per score");
        }
        double weighted = 0;
        double tokens = 0;
        for (int i = 0; i < scores.length; i++) {
            if (Double.isFinite(scores[i])) {
                weighted += lengths[i] * scores[i];
                tokens += lengths[i];
            }
        }
        // A group without any sampled token has no weights, and no token that could carry an advantage.
        double baseline = tokens == 0 ? 0 : weighted / tokens;
        return GroupStatistics.of(scores).differences(scores, baseline, 1);
    }
}
