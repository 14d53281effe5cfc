package io.bellows.udfs.advantage;

import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * One sampled trajectory as advantage estimators see it. All arrays but {@link #rewards} have one entry per response token.
 *
 * <p>Rewards sit on sampled tokens only. Differs from verl on purpose: a reward given at a token that was not sampled, such as the
 * last one of a tool's answer, counts at the last sampled token before it, where verl loses it in most estimators. Before the
 * first sampled token there is no action that could have earned it; it counts in the score alone.
 */
public final class Sample {
    private final double score;
    private final double[] tokenRewards;
    private final boolean[] mask;
    private final double[] values;
    private final double[] logProbs;
    private final double[] squaredProbabilities;
    private final double[] importanceWeights;
    private final double[] rewards;
    private final double baseline;

    private Sample(Builder builder) {
        this.score = builder.isComplete() ? builder.score : Double.NaN;
        this.mask = builder.mask;
        this.tokenRewards = onSampledTokens(builder.tokenRewards, builder.mask);
        this.values = builder.values;
        this.logProbs = builder.logProbs;
        this.squaredProbabilities = builder.squaredProbabilities;
        this.importanceWeights = builder.importanceWeights;
        this.rewards = builder.rewards;
        this.baseline = builder.baseline;
    }

    /**
     * Starts a sample.
     *
     * @param score the reward of the whole trajectory; NaN or infinite for one that failed or was not scored
     * @param tokenRewards reward by token, anything where {@code score} is not finite
     * @param mask true for sampled tokens
     * @throws IllegalArgumentException if the lengths differ
     */
    public static Builder of(double score, double[] tokenRewards, boolean[] mask) {
        return new Builder(score, tokenRewards, mask);
    }

    /** A sample that is rewarded once, at its last sampled token. */
    public static Sample outcome(double score, boolean[] mask) {
        double[] rewards = new double[mask.length];
        if (mask.length > 0) {
            rewards[mask.length - 1] = score;
        }
        return of(score, rewards, mask).build();
    }

    /** The reward of the whole trajectory; not finite for one that failed or was not scored in full. */
    public double score() {
        return score;
    }

    /** Whether the trajectory failed or was not scored in full. */
    public boolean isAbsent() {
        return !Double.isFinite(score);
    }

    /** Number of tokens, sampled or not. */
    public int length() {
        return mask.length;
    }

    /** True for sampled tokens; not to be changed. */
    public boolean[] mask() {
        return mask;
    }

    /** Indices of the sampled tokens, ascending. */
    int[] sampledTokens() {
        return IntStream.range(0, mask.length).filter(t -> mask[t]).toArray();
    }

    double tokenReward(int token) {
        return tokenRewards[token];
    }

    double[] values() {
        return required(values, "values of a critic");
    }

    double[] logProbs() {
        return required(logProbs, "log-probs");
    }

    double[] squaredProbabilities() {
        return required(squaredProbabilities, "sums of squared probabilities");
    }

    /** Weight that corrects for the engine's distribution, 1 where none was given. */
    double importanceWeight(int token) {
        return importanceWeights == null ? 1 : importanceWeights[token];
    }

    double[] rewards() {
        return required(rewards, "rewards by key");
    }

    double baseline() {
        return baseline;
    }

    private static double[] required(double[] array, String what) {
        if (array == null) {
            throw new IllegalArgumentException(
                    "Cannot estimate advantages: the sample has no " + what + "; this estimator needs them");
        }
        return array;
    }

    private static double[] onSampledTokens(double[] rewards, boolean[] mask) {
        double[] moved = new double[rewards.length];
        int last = -1;
        for (int t = 0; t < rewards.length; t++) {
            last = mask[t] ? t : last;
            if (last >= 0) {
                moved[last] += rewards[t];
            }
        }
        return moved;
    }

    /** Collects what only some estimators read. */
    public static final class Builder {
        private final double score;
        private final double[] tokenRewards;
        private final boolean[] mask;
        private double[] values;
        private double[] logProbs;
        private double[] squaredProbabilities;
        private double[] importanceWeights;
        private double[] rewards;
        private double baseline = Double.NaN;

        private Builder(double score, double[] tokenRewards, boolean[] mask) {
            this.score = score;
            this.mask = mask;
            this.tokenRewards = checked(tokenRewards, "token rewards");
        }

        /** What a critic expected before each token. */
        public Builder values(double[] perToken) {
            this.values = checked(perToken, "values");
            return this;
        }

        /** Log-probability of each token under the policy that sampled it. */
        public Builder logProbs(double[] perToken) {
            this.logProbs = checked(perToken, "log-probs");
            return this;
        }

        /** Sum, over the vocabulary, of the squared probabilities of the distribution that each token was drawn from. */
        public Builder squaredProbabilities(double[] perToken) {
            this.squaredProbabilities = checked(perToken, "sums of squared probabilities");
            return this;
        }

        /** Weights that correct for the engine's distribution, verl's {@code rollout_is_weights}. */
        public Builder importanceWeights(double[] perToken) {
            this.importanceWeights = checked(perToken, "importance weights");
            return this;
        }

        /** Each reward by itself; a sample that lacks one, so that it is not finite, is absent. */
        public Builder rewards(double[] byKey) {
            this.rewards = byKey;
            return this;
        }

        /** Score of a greedy response to the same prompt; NaN if it failed. */
        public Builder baseline(double greedyScore) {
            this.baseline = greedyScore;
            return this;
        }

        /** The sample. */
        public Sample build() {
            return new Sample(this);
        }

        private boolean isComplete() {
            return rewards == null || Arrays.stream(rewards).allMatch(Double::isFinite);
        }

        private double[] checked(double[] perToken, String name) {
            if (perToken.length != mask.length) {
                throw new IllegalArgumentException("Invalid " + name + ": " + perToken.length + " for " + mask.length
                        + " tokens; give one per token");
            }
            return perToken;
        }
    }
}
