package io.bellows.udfs.advantage;

import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Return less a baseline of its own for every step, the mean of the group's returns at that step weighted by how much each
 * trajectory has varied so far: {@code B(t) = Σ G(t)·W(t) / (Σ W(t) + 1e-8)}, where {@code W(t)} sums {@code 1 − 2π + Σπ²}, a
 * stand-in for the squared norm of the score function, over the sampled tokens up to t. The optimal token baseline of Li et al.
 * (2025). With importance weights ρ, each summand is multiplied by ρ². verl's {@code optimal_token_baseline} and
 * {@code tir_optimal_token_baseline}.
 *
 * <p>Differs from verl on purpose: trajectories that failed are absent; a group with one valid trajectory has advantage 0, not its
 * raw return; a reward at a token that was not sampled is not lost (see {@link Sample}).
 *
 * @param steps what makes tokens of two trajectories the same step
 * @param tail what the baseline is where only the longest trajectory is left
 */
public record OptimalTokenBaseline(Steps steps, Tail tail) implements AdvantageEstimator {
    private static final double EPSILON = 1e-8;

    /** What makes tokens of two trajectories the same step. */
    public enum Steps {
        /** The same position in the response, verl's {@code optimal_token_baseline}; tokens of tools shift what is compared. */
        POSITIONS,
        /** The same number of sampled tokens before them, verl's {@code tir_optimal_token_baseline}. */
        SAMPLED_TOKENS
    }

    /** What the baseline is where only the longest trajectory is left, verl's {@code handle_zero_tail}. */
    public enum Tail {
        /** 0, so that the advantage is the return; verl's default. */
        ZERO,
        /** The trajectory's own return, so that the advantage is about 0. */
        OWN_RETURN
    }

    @Override
    public Set<Input> inputs() {
        return Set.of(Input.SQUARED_PROBABILITIES);
    }

    @Override
    public boolean comparesGroup() {
        return true;
    }

    @Override
    public List<Advantages> estimate(List<Sample> group) {
        long valid = group.stream().filter(sample -> !sample.isAbsent()).count();
        if (valid < 2) {
            return group.stream()
                    .map(sample -> Advantages.none(sample.length()))
                    .toList();
        }
        double[] baselines = baselines(group);
        int[] lengths = group.stream()
                .mapToInt(sample -> sample.isAbsent() ? 0 : sample.sampledTokens().length)
                .toArray();
        return IntStream.range(0, group.size())
                .mapToObj(i -> estimate(group.get(i), baselines, tailStart(lengths, i)))
                .toList();
    }

    private Advantages estimate(Sample sample, double[] baselines, int tailStart) {
        if (sample.isAbsent()) {
            return Advantages.none(sample.length());
        }
        double[] returns = ReinforcePlusPlusAdvantage.returns(sample, 1);
        double[] advantages = new double[sample.length()];
        int[] sampled = sample.sampledTokens();
        for (int i = 0; i < sampled.length; i++) {
            int step = step(sampled, i);
            advantages[sampled[i]] = returns[sampled[i]] - (step >= tailStart ? 0 : baselines[step]);
        }
        return new Advantages(advantages, returns);
    }

    private double[] baselines(List<Sample> group) {
        int most = group.stream().mapToInt(Sample::length).max().orElse(0);
        double[] weightedReturns = new double[most];
        double[] weights = new double[most];
        for (Sample sample : group) {
            if (sample.isAbsent()) {
                continue;
            }
            double[] returns = ReinforcePlusPlusAdvantage.returns(sample, 1);
            double variation = 0;
            int[] sampled = sample.sampledTokens();
            for (int i = 0; i < sampled.length; i++) {
                variation += variation(sample, sampled[i]);
                weightedReturns[step(sampled, i)] += returns[sampled[i]] * variation;
                weights[step(sampled, i)] += variation;
            }
        }
        return IntStream.range(0, most)
                .mapToDouble(step -> weightedReturns[step] / (weights[step] + EPSILON))
                .toArray();
    }

    private static double variation(Sample sample, int token) {
        double weight = sample.importanceWeight(token);
        double probability = Math.exp(sample.logProbs()[token]);
        return (1 - 2 * probability + sample.squaredProbabilities()[token]) * weight * weight;
    }

    private int step(int[] sampled, int index) {
        return steps == Steps.POSITIONS ? sampled[index] : index;
    }

    /** First step at which trajectory {@code i} is the only one left and its baseline 0; never for most. */
    private int tailStart(int[] lengths, int i) {
        int others = IntStream.range(0, lengths.length)
                .filter(other -> other != i)
                .map(other -> lengths[other])
                .max()
                .orElse(0);
        boolean alone = steps == Steps.SAMPLED_TOKENS && others == 0;
        return alone || (tail == Tail.ZERO && lengths[i] > others) ? others : Integer.MAX_VALUE;
    }
}
