package io.bellows.udfs.correction;

import io.bellows.udfs.metrics.Metric;
import io.bellows.udfs.metrics.Metrics;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * How far the learning policy is from the one that sampled, verl's {@code compute_offpolicy_metrics}, with the prefix {@code rollout_corr/}:
 * perplexities (means over sequences), kl and k3_kl (means over tokens), differences of log-perplexity, and the chi-squared divergence of
 * tokens and sequences. As in verl, an empty sequence has perplexity 1.
 */
final class OffPolicyMetrics {
    private static final String PREFIX = "rollout_corr/";

    private OffPolicyMetrics() {}

    /** Of the sampled tokens of one sequence. */
    static Metrics of(double[] logProbs, double[] rolloutLogProbs) {
        double[] logRatios = IntStream.range(0, logProbs.length)
                .mapToDouble(t -> logProbs[t] - rolloutLogProbs[t])
                .toArray();
        double training = -Arrays.stream(logProbs).average().orElse(0);
        double rollout = -Arrays.stream(rolloutLogProbs).average().orElse(0);
        double difference = training - rollout;
        double sum = LogRatios.hold(Arrays.stream(logRatios).sum());
        return Metrics.empty()
                .with(PREFIX + "training_ppl", Metric.mean(Math.exp(training), 1))
                .with(PREFIX + "training_log_ppl", Metric.mean(training, 1))
                .with(PREFIX + "kl", Metric.mean(-Arrays.stream(logRatios).sum(), logRatios.length))
                .with(
                        PREFIX + "k3_kl",
                        Metric.mean(
                                Arrays.stream(logRatios)
                                        .map(ratio -> Math.expm1(ratio) - ratio)
                                        .sum(),
                                logRatios.length))
                .with(PREFIX + "rollout_ppl", Metric.mean(Math.exp(rollout), 1))
                .with(PREFIX + "rollout_log_ppl", Metric.mean(rollout, 1))
                .with(PREFIX + "log_ppl_diff", Metric.mean(difference, 1))
                .with(PREFIX + "log_ppl_abs_diff", Metric.mean(Math.abs(difference), 1))
                .with(PREFIX + "log_ppl_diff_max", Metric.max(difference))
                .with(PREFIX + "log_ppl_diff_min", Metric.min(difference))
                .with(PREFIX + "ppl_ratio", Metric.mean(Math.exp(difference), 1))
                .with(
                        PREFIX + "chi2_token",
                        Metric.mean(
                                Arrays.stream(logRatios)
                                        .map(ratio -> Math.expm1(2 * LogRatios.hold(ratio)))
                                        .sum(),
                                logRatios.length))
                .with(PREFIX + "chi2_seq", Metric.mean(Math.expm1(2 * sum), 1));
    }
}
