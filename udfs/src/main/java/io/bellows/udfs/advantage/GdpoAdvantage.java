package io.bellows.udfs.advantage;

import io.bellows.udfs.advantage.GrpoAdvantage.Normalization;
import java.util.List;
import java.util.Set;

/**
 * Several rewards, each normalized within its group by itself, then summed by weight and whitened over the sampled tokens of the
 * batch, so that a reward of small spread is not drowned by one of large spread (GDPO, Liu et al., arXiv 2601.05242). verl's
 * {@code gdpo}, {@code algorithm.gdpo_reward_keys} and {@code algorithm.gdpo_reward_weights}.
 *
 * <p>Differs from verl on purpose: a trajectory that lacks one of the rewards is absent; the reward of an empty response, which verl
 * writes to a place before its first token, counts in its group; and {@link BatchNormalization#WHITEN} tells how whitening differs.
 *
 * @param normalization whether each difference is divided by the standard deviation of its reward
 * @param weights one factor per reward, in the order of {@link Sample.Builder#rewards}
 */
public record GdpoAdvantage(Normalization normalization, List<Double> weights) implements OutcomeAdvantage {

    /** Copies the weights. */
    public GdpoAdvantage {
        weights = List.copyOf(weights);
    }

    @Override
    public Set<Input> inputs() {
        return Set.of(Input.REWARDS);
    }

    @Override
    public BatchNormalization batchNormalization() {
        return BatchNormalization.WHITEN;
    }

    @Override
    public double[] outcomes(List<Sample> group) {
        double[] sums = new double[group.size()];
        for (int key = 0; key < weights.size(); key++) {
            int column = key;
            double[] one = group.stream()
                    .mapToDouble(sample -> sample.isAbsent() ? Double.NaN : sample.rewards()[column])
                    .toArray();
            double[] advantages = GrpoAdvantage.advantages(one, normalization);
            for (int i = 0; i < sums.length; i++) {
                sums[i] += weights.get(key) * advantages[i];
            }
        }
        return sums;
    }
}
