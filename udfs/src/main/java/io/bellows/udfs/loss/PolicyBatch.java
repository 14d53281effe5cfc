package io.bellows.udfs.loss;

/**
 * What the loss of the policy is computed from, for one micro-batch. All arrays have the shape (tokens) of {@link Sequences}; entry
 * t belongs to token t. What stands at tokens that were not sampled is never read and may be anything, NaN included.
 */
public final class PolicyBatch {
    private final Sequences sequences;
    private final double[] logProbs;
    private final double[] oldLogProbs;
    private final double[] advantages;
    private final double[] refLogProbs;
    private final double[] entropies;
    private final double[] importanceWeights;
    private final boolean[] selected;

    private PolicyBatch(Builder builder) {
        this.sequences = builder.sequences;
        this.logProbs = required(builder.logProbs, "logProbs");
        this.oldLogProbs = required(builder.oldLogProbs, "oldLogProbs");
        this.advantages = required(builder.advantages, "advantages");
        this.refLogProbs = builder.refLogProbs;
        this.entropies = builder.entropies;
        this.importanceWeights = builder.importanceWeights;
        this.selected = builder.selected;
    }

    /** Starts a batch; log-probs, old log-probs and advantages are required. */
    public static Builder of(Sequences sequences) {
        return new Builder(sequences);
    }

    /** The layout of the tokens. */
    public Sequences sequences() {
        return sequences;
    }

    /** Log-probability of a token under the policy that is being trained. */
    public double logProb(int token) {
        return logProbs[token];
    }

    /** Log-probability of a token under the policy at the start of the update. */
    public double oldLogProb(int token) {
        return oldLogProbs[token];
    }

    /** How far the log-probability of a token has moved: logProb − oldLogProb. */
    public double logRatio(int token) {
        return logProbs[token] - oldLogProbs[token];
    }

    /** Advantage of a token. */
    public double advantage(int token) {
        return advantages[token];
    }

    /** Whether reference log-probs were given. */
    public boolean hasRefLogProbs() {
        return refLogProbs != null;
    }

    /** Log-probability of a token under the reference policy. */
    public double refLogProb(int token) {
        return refLogProbs[token];
    }

    /** Whether entropies were given. */
    public boolean hasEntropies() {
        return entropies != null;
    }

    /** Entropy (nats) of the distribution that a token was drawn from, under the policy that is being trained. */
    public double entropy(int token) {
        return entropies[token];
    }

    /** Weight that corrects for the engine's distribution, 1 where none was given. */
    public double importanceWeight(int token) {
        return importanceWeights == null ? 1 : importanceWeights[token];
    }

    /**
     * Whether a {@link SelectivePolicyLoss} chose a token of the mini-batch.
     *
     * @throws IllegalStateException if the batch does not say
     */
    public boolean isSelected(int token) {
        if (selected == null) {
            throw new IllegalStateException("Cannot compute the loss: it treats selected tokens of the mini-batch"
                    + " differently, but the batch does not say which; give it what select() returned");
        }
        return selected[token];
    }

    private static double[] required(double[] values, String name) {
        if (values == null) {
            throw new IllegalStateException("Cannot build a policy batch without " + name);
        }
        return values;
    }

    /** Collects the arrays of a batch; each can be set as float, as kernels and tables deliver them, or as double. */
    public static final class Builder {
        private final Sequences sequences;
        private double[] logProbs;
        private double[] oldLogProbs;
        private double[] advantages;
        private double[] refLogProbs;
        private double[] entropies;
        private double[] importanceWeights;
        private boolean[] selected;

        private Builder(Sequences sequences) {
            this.sequences = sequences;
        }

        /** Log-probabilities under the policy that is being trained; required. */
        public Builder logProbs(double[] values) {
            this.logProbs = checked(values, "logProbs");
            return this;
        }

        /** Log-probabilities under the policy that is being trained; required. */
        public Builder logProbs(float[] values) {
            return logProbs(Numbers.widened(values));
        }

        /** Log-probabilities under the policy at the start of the update; required. */
        public Builder oldLogProbs(double[] values) {
            this.oldLogProbs = checked(values, "oldLogProbs");
            return this;
        }

        /** Log-probabilities under the policy at the start of the update; required. */
        public Builder oldLogProbs(float[] values) {
            return oldLogProbs(Numbers.widened(values));
        }

        /** Advantages; required. */
        public Builder advantages(double[] values) {
            this.advantages = checked(values, "advantages");
            return this;
        }

        /** Advantages; required. */
        public Builder advantages(float[] values) {
            return advantages(Numbers.widened(values));
        }

        /** Needed for a KL loss. */
        public Builder refLogProbs(double[] values) {
            this.refLogProbs = checked(values, "refLogProbs");
            return this;
        }

        /** Needed for a KL loss. */
        public Builder refLogProbs(float[] values) {
            return refLogProbs(Numbers.widened(values));
        }

        /** Needed for an entropy bonus and for the metric {@code actor/entropy}. */
        public Builder entropies(double[] values) {
            this.entropies = checked(values, "entropies");
            return this;
        }

        /** Needed for an entropy bonus and for the metric {@code actor/entropy}. */
        public Builder entropies(float[] values) {
            return entropies(Numbers.widened(values));
        }

        /** Constants that the policy loss of each token is multiplied by, verl's {@code rollout_is_weights}. */
        public Builder importanceWeights(double[] values) {
            this.importanceWeights = checked(values, "importanceWeights");
            return this;
        }

        /** Constants that the policy loss of each token is multiplied by, verl's {@code rollout_is_weights}. */
        public Builder importanceWeights(float[] values) {
            return importanceWeights(Numbers.widened(values));
        }

        /** Tokens that {@link SelectivePolicyLoss#select} chose; needed by such a loss only. */
        public Builder selected(boolean[] tokens) {
            sequences.requireOnePerToken("selected", tokens.length);
            this.selected = tokens;
            return this;
        }

        /**
         * The batch.
         *
         * @throws IllegalStateException if log-probs, old log-probs or advantages are missing
         */
        public PolicyBatch build() {
            return new PolicyBatch(this);
        }

        private double[] checked(double[] values, String name) {
            sequences.requireOnePerToken(name, values.length);
            return values;
        }
    }
}
