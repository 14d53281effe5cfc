package io.bellows.udfs.correction;

import io.bellows.udfs.loss.Sequences;
import io.bellows.udfs.metrics.Metric;
import io.bellows.udfs.metrics.Metrics;
import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Corrects for the difference between the policy that sampled, as the engine computed it, and the policy that learns: importance weights,
 * rejection of what is too far off, and metrics of the difference; verl's {@code algorithm.rollout_correction}. Immutable.
 *
 * <p>Example:
 *
 * <pre>{@code
 * RolloutCorrection correction = RolloutCorrection.NONE
 *         .withWeights(ImportanceWeighting.of("token", "2.0"))
 *         .withRejection(RejectionRule.parse("seq_mean_k3", "0.01"));
 * Correction corrected = correction.correct(batch, oldLogProbs, rolloutLogProbs);
 * }</pre>
 *
 * <p>Differs from verl on purpose: a batch without a sampled token, for which verl raises, has weights of 0 and no metrics of tokens.
 */
public final class RolloutCorrection implements Serializable {
    /** Neither weights nor rejection: metrics only. */
    public static final RolloutCorrection NONE = new RolloutCorrection(null, Normalization.NONE, List.of());

    private static final String FACTOR = "rollout_corr/rollout_is_batch_norm_factor";
    private static final double SMALLEST_MEAN = 1e-8;

    private enum Normalization {
        NONE,
        BATCH_MEAN
    }

    private final ImportanceWeighting weighting;
    private final Normalization normalization;
    private final List<RejectionRule> rules;

    private RolloutCorrection(ImportanceWeighting weighting, Normalization normalization, List<RejectionRule> rules) {
        this.weighting = weighting;
        this.normalization = normalization;
        this.rules = rules;
    }

    /** The same correction with these importance weights. */
    public RolloutCorrection withWeights(ImportanceWeighting weights) {
        return new RolloutCorrection(weights, normalization, rules);
    }

    /** The same correction with weights divided by their mean over the batch, verl's {@code rollout_is_batch_normalize}. */
    public RolloutCorrection withBatchNormalization() {
        return new RolloutCorrection(weighting, Normalization.BATCH_MEAN, rules);
    }

    /** The same correction with these rules, each of which may reject. */
    public RolloutCorrection withRejection(List<RejectionRule> rejectionRules) {
        return new RolloutCorrection(weighting, normalization, List.copyOf(rejectionRules));
    }

    /** Whether there are importance weights. */
    public boolean hasWeights() {
        return weighting != null;
    }

    /** Whether tokens may be rejected. */
    public boolean hasRejection() {
        return !rules.isEmpty();
    }

    /** Whether weights depend on the whole batch, so that those of a part must be divided by {@link #normalizer}. */
    public boolean isBatchNormalized() {
        return weighting != null && normalization == Normalization.BATCH_MEAN;
    }

    /**
     * Corrects a whole batch.
     *
     * @param batch the layout
     * @param logProbs log-probability of each token under the policy that learns, shape (tokens), read where the mask is true
     * @param rolloutLogProbs log-probability under the policy that sampled, likewise
     * @throws IllegalArgumentException if there is not one of each per token
     */
    public Correction correct(Sequences batch, double[] logProbs, double[] rolloutLogProbs) {
        Correction part = correctPart(batch, logProbs, rolloutLogProbs);
        if (isBatchNormalized()) {
            double normalizer = normalizer(part.sumOfWeights(), part.countOfWeights());
            for (int t = 0; t < part.weights().length; t++) {
                part.weights()[t] /= normalizer;
            }
        }
        return part;
    }

    /** Corrects a part of a batch; as {@link #correct}, but weights are not divided by their mean over the batch. */
    public Correction correctPart(Sequences part, double[] logProbs, double[] rolloutLogProbs) {
        part.requireOnePerToken("logProbs", logProbs.length);
        part.requireOnePerToken("rolloutLogProbs", rolloutLogProbs.length);
        double[] weights = hasWeights() ? new double[part.tokens()] : null;
        boolean[] mask = new boolean[part.tokens()];
        double sum = 0;
        long count = 0;
        Metrics metrics = Metrics.empty();
        for (int i = 0; i < part.count(); i++) {
            int[] sampled = IntStream.range(part.start(i), part.end(i))
                    .filter(part::sampled)
                    .toArray();
            metrics = metrics.merge(
                    correct(sampled, pick(logProbs, sampled), pick(rolloutLogProbs, sampled), weights, mask));
            if (isBatchNormalized() && sampled.length > 0) {
                boolean byToken = weighting.level() == ImportanceWeighting.Level.TOKEN;
                sum += byToken ? Arrays.stream(pick(weights, sampled)).sum() : weights[sampled[0]];
                count += byToken ? sampled.length : 1;
            }
        }
        if (isBatchNormalized()) {
            metrics = metrics.with(FACTOR, Metric.mean(sum, (double) count));
        }
        return new Correction(weights, mask, sum, count, metrics);
    }

    /**
     * What the weights of a batch are to be divided by: their mean, or 1 where it is close to 0.
     *
     * @param sumOfWeights added up over the parts of the batch
     * @param countOfWeights likewise
     */
    public static double normalizer(double sumOfWeights, long countOfWeights) {
        double mean = countOfWeights == 0 ? 0 : sumOfWeights / countOfWeights;
        return mean > SMALLEST_MEAN ? mean : 1;
    }

    /** Corrects one sequence, given its sampled tokens, and returns its metrics. */
    private Metrics correct(
            int[] sampled, double[] logProbs, double[] rolloutLogProbs, double[] weights, boolean[] mask) {
        double[] logRatios = IntStream.range(0, sampled.length)
                .mapToDouble(t -> logProbs[t] - rolloutLogProbs[t])
                .toArray();
        Metrics metrics = OffPolicyMetrics.of(logProbs, rolloutLogProbs);
        if (weighting != null) {
            double[] own = weighting.weights(logRatios);
            IntStream.range(0, sampled.length).forEach(t -> weights[sampled[t]] = own[t]);
            metrics = metrics.merge(weighting.metrics(logRatios));
        }
        boolean[] kept = new boolean[sampled.length];
        Arrays.fill(kept, true);
        for (RejectionRule rule : rules) {
            boolean[] byRule = rule.kept(logRatios);
            IntStream.range(0, kept.length).forEach(t -> kept[t] &= byRule[t]);
            metrics = metrics.merge(rule.metrics(logRatios));
        }
        IntStream.range(0, sampled.length).forEach(t -> mask[sampled[t]] = kept[t]);
        return rules.isEmpty() ? metrics : metrics.merge(rejection(kept));
    }

    private static Metrics rejection(boolean[] kept) {
        int rejected = rejected(kept);
        return Metrics.empty()
                .with("rollout_corr/rollout_rs_masked_fraction", Metric.mean(rejected, kept.length))
                .with("rollout_corr/rollout_rs_seq_masked_fraction", Metric.mean(rejected > 0 ? 1 : 0, 1));
    }

    /** Number of tokens that were not kept. */
    static int rejected(boolean[] kept) {
        int rejected = 0;
        for (boolean keeps : kept) {
            rejected += keeps ? 0 : 1;
        }
        return rejected;
    }

    private static double[] pick(double[] values, int[] positions) {
        return Arrays.stream(positions).mapToDouble(t -> values[t]).toArray();
    }
}
