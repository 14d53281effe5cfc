package io.bellows.udfs.correction;

import io.bellows.udfs.metrics.Metric;
import io.bellows.udfs.metrics.Metrics;
import java.io.Serializable;
import java.util.Arrays;
import java.util.function.DoublePredicate;

/**
 * Weights that correct for sampling from another distribution, verl's {@code rollout_is} with {@code rollout_is_threshold}: the ratio ρ of
 * the probabilities under the learning and the sampling policy, of each token or of a whole sequence (their product), the exponent held
 * to ±20. One bound is the upper one, and larger ratios are clamped to it (truncated importance sampling, Ionides, 2008; Yao et al., "Your
 * efficient RL framework secretly brings you off-policy RL training", 2025). With two bounds, ratios outside have weight 0 (IcePop, Ling Team,
 * arXiv 2510.18855).
 *
 * <p>Metrics as in verl, before the bounds are applied: {@code rollout_is_mean}, {@code _max}, {@code _min}, {@code _ratio_fraction_high},
 * {@code _ratio_fraction_low} and {@code _seq_*}; of weights held between the bounds: {@code _std} and {@code _eff_sample_size}; and
 * {@code _oob_ratio}, with two bounds the share of tokens outside. Without a lower bound its place in metrics is taken by 1/upper.
 * As in verl, an empty sequence has part in what is counted by sequence.
 */
public final class ImportanceWeighting implements Serializable {

    /** What a weight belongs to. */
    public enum Level {
        /** Each token by itself: biased, of low variance. */
        TOKEN,
        /** All tokens of a sequence together: unbiased, of high variance. */
        SEQUENCE
    }

    private enum Outside {
        CLAMPED,
        ZERO
    }

    private static final String PREFIX = "rollout_corr/rollout_is_";

    private final Level level;
    private final Outside outside;
    private final double lower;
    private final double upper;

    private ImportanceWeighting(Level level, Outside outside, double lower, double upper) {
        this.level = level;
        this.outside = outside;
        this.lower = lower;
        this.upper = upper;
    }

    /**
     * Weights as a configuration says.
     *
     * @param level verl's {@code rollout_is}: {@code token} or {@code sequence}
     * @param threshold verl's {@code rollout_is_threshold}: {@code 2.0}, or {@code 0.5_5.0} for two bounds, which are above 0
     * @throws IllegalArgumentException if either cannot be understood
     */
    public static ImportanceWeighting of(String level, String threshold) {
        Level known = switch (level) {
            case "token" -> Level.TOKEN;
            case "sequence" -> Level.SEQUENCE;
            default -> throw new IllegalArgumentException("Invalid rollout_is '" + level + "': use token or sequence");
        };
        double[] bounds = Thresholds.parse("rollout_is_threshold", threshold);
        return bounds.length == 1
                ? new ImportanceWeighting(known, Outside.CLAMPED, 1 / bounds[0], bounds[0])
                : new ImportanceWeighting(known, Outside.ZERO, bounds[0], bounds[1]);
    }

    /** What a weight belongs to. */
    public Level level() {
        return level;
    }

    /** The weights of the sampled tokens of one sequence, by their log-ratios. */
    double[] weights(double[] logRatios) {
        double[] ratios = ratios(logRatios);
        for (int t = 0; t < ratios.length; t++) {
            ratios[t] = outside == Outside.CLAMPED ? Math.min(ratios[t], upper) : isOutside(ratios[t]) ? 0 : ratios[t];
        }
        return ratios;
    }

    private double[] ratios(double[] logRatios) {
        if (level == Level.TOKEN) {
            return Arrays.stream(logRatios).map(LogRatios::hold).map(Math::exp).toArray();
        }
        double[] ratios = new double[logRatios.length];
        Arrays.fill(ratios, Math.exp(LogRatios.hold(Arrays.stream(logRatios).sum())));
        return ratios;
    }

    private boolean isOutside(double ratio) {
        return ratio < lower || ratio > upper;
    }

    Metrics metrics(double[] logRatios) {
        double[] ratios = ratios(logRatios);
        double[] held = Arrays.stream(ratios)
                .map(ratio -> Math.max(lower, Math.min(upper, ratio)))
                .toArray();
        double mean = Arrays.stream(ratios).average().orElse(0); // of an empty sequence 0, as in verl
        Metrics metrics = (level == Level.TOKEN ? ofTokens(ratios) : ofSequence(logRatios))
                .with(PREFIX + "mean", Metric.mean(Arrays.stream(ratios).sum(), ratios.length))
                .with(PREFIX + "std", Metric.standardDeviation(held))
                .with(PREFIX + "eff_sample_size", Metric.effectiveSampleSize(held))
                .with(PREFIX + "seq_mean", Metric.mean(mean, 1))
                .with(PREFIX + "seq_std", Metric.sampleStandardDeviation(mean))
                .with(PREFIX + "seq_max", Metric.max(mean))
                .with(PREFIX + "seq_min", Metric.min(mean))
                .with(PREFIX + "seq_max_deviation", Metric.max(Math.abs(mean - 1)))
                .with(PREFIX + "seq_fraction_high", Metric.mean(mean > upper ? 1 : 0, 1))
                .with(PREFIX + "seq_fraction_low", Metric.mean(mean < lower ? 1 : 0, 1));
        return outside == Outside.CLAMPED
                ? metrics
                : metrics.with(PREFIX + "oob_ratio", share(ratios, this::isOutside));
    }

    private Metrics ofTokens(double[] ratios) {
        Metrics metrics = Metrics.empty()
                .with(PREFIX + "ratio_fraction_high", share(ratios, ratio -> ratio > upper))
                .with(PREFIX + "ratio_fraction_low", share(ratios, ratio -> ratio < lower));
        for (double ratio : ratios) {
            metrics = metrics.with(PREFIX + "max", Metric.max(ratio)).with(PREFIX + "min", Metric.min(ratio));
        }
        return metrics;
    }

    private Metrics ofSequence(double[] logRatios) {
        double sum = Arrays.stream(logRatios).sum();
        return Metrics.empty()
                .with(PREFIX + "max", Metric.max(Math.exp(Math.min(sum, LogRatios.MAX))))
                .with(PREFIX + "min", Metric.min(Math.exp(sum)))
                .with(PREFIX + "ratio_fraction_high", Metric.mean(sum > Math.log(upper) ? 1 : 0, 1))
                .with(PREFIX + "ratio_fraction_low", Metric.mean(sum < Math.log(lower) ? 1 : 0, 1));
    }

    private static Metric share(double[] ratios, DoublePredicate condition) {
        return Metric.mean((double) Arrays.stream(ratios).filter(condition).count(), ratios.length);
    }
}
