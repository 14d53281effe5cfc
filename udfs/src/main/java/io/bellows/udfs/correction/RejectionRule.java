package io.bellows.udfs.correction;

import io.bellows.udfs.metrics.Metric;
import io.bellows.udfs.metrics.Metrics;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.DoublePredicate;
import java.util.function.DoubleUnaryOperator;

/**
 * Leaves out tokens or sequences on which the learning policy is too far from the one that sampled, verl's {@code rollout_rs} with
 * {@code rollout_rs_threshold}.
 *
 * <p>With ℓ = logProb − rolloutLogProb, held to ±20, the divergence on a token is k1 = −ℓ, k2 = ℓ²/2 or k3 = exp(ℓ) − 1 − ℓ; it bounds the
 * token by itself ({@code token_}), or the sequence by sum, mean or maximum. k1 stays between the logarithms of two bounds of a ratio (one
 * bound u means 1/u and u), k2 and k3 stay below one bound.
 *
 * <p>Metrics under verl's names, with the prefix {@code rollout_corr/rollout_rs_KIND_}.
 */
public final class RejectionRule implements Serializable {

    private enum Scope {
        TOKEN,
        SEQ_SUM,
        SEQ_MEAN,
        SEQ_MAX
    }

    /** The kinds of verl, by their names in a configuration. */
    private enum Kind {
        TOKEN_K1(Scope.TOKEN, Kind::k1),
        TOKEN_K2(Scope.TOKEN, Kind::k2),
        TOKEN_K3(Scope.TOKEN, Kind::k3),
        SEQ_SUM_K1(Scope.SEQ_SUM, Kind::k1),
        SEQ_SUM_K2(Scope.SEQ_SUM, Kind::k2),
        SEQ_SUM_K3(Scope.SEQ_SUM, Kind::k3),
        SEQ_MEAN_K1(Scope.SEQ_MEAN, Kind::k1),
        SEQ_MEAN_K2(Scope.SEQ_MEAN, Kind::k2),
        SEQ_MEAN_K3(Scope.SEQ_MEAN, Kind::k3),
        SEQ_MAX_K2(Scope.SEQ_MAX, Kind::k2),
        SEQ_MAX_K3(Scope.SEQ_MAX, Kind::k3);

        private final Scope scope;
        private final DoubleUnaryOperator divergence;

        Kind(Scope scope, DoubleUnaryOperator divergence) {
            this.scope = scope;
            this.divergence = divergence;
        }

        String configName() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }

        boolean isK1() {
            return name().endsWith("K1");
        }

        private static double k1(double logRatio) {
            return -logRatio;
        }

        private static double k2(double logRatio) {
            return 0.5 * logRatio * logRatio;
        }

        private static double k3(double logRatio) {
            return Math.expm1(logRatio) - logRatio;
        }
    }

    private final Kind kind;
    private final double lower;
    private final double upper;

    private RejectionRule(Kind kind, double lower, double upper) {
        this.kind = kind;
        this.lower = lower;
        this.upper = upper;
    }

    /**
     * Rules as a configuration says; a token stays if every rule keeps it.
     *
     * @param kinds verl's {@code rollout_rs}, such as {@code token_k1,seq_mean_k3}; a kind that is named twice counts once
     * @param thresholds verl's {@code rollout_rs_threshold}: one for all kinds, or one for each, such as {@code 0.5_2.0,0.01}
     * @throws IllegalArgumentException if either cannot be understood, or they do not fit each other
     */
    public static List<RejectionRule> parse(String kinds, String thresholds) {
        if (thresholds == null) {
            throw new IllegalArgumentException("Invalid rollout_rs_threshold null: rollout_rs = '" + kinds
                    + "' needs one, such as 0.5_2.0 for a kind that ends with k1 and 0.01 for the others");
        }
        List<Kind> known =
                split(kinds).stream().map(RejectionRule::kind).distinct().toList();
        List<String> bounds = split(thresholds);
        if (known.isEmpty() || (bounds.size() != 1 && bounds.size() != known.size())) {
            throw new IllegalArgumentException("Invalid rollout_rs_threshold '" + thresholds + "': " + bounds.size()
                    + " thresholds for " + known.size() + " kinds, '" + kinds + "'; give one for all, or one for each");
        }
        List<RejectionRule> rules = new ArrayList<>();
        for (int i = 0; i < known.size(); i++) {
            rules.add(rule(known.get(i), bounds.get(bounds.size() == 1 ? 0 : i)));
        }
        return rules;
    }

    private static List<String> split(String list) {
        return Arrays.stream(list.split(","))
                .map(String::strip)
                .filter(part -> !part.isEmpty())
                .toList();
    }

    private static Kind kind(String name) {
        return Arrays.stream(Kind.values())
                .filter(kind -> kind.configName().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("Invalid rollout_rs '" + name + "': use one or more of "
                        + String.join(
                                ", ",
                                Arrays.stream(Kind.values())
                                        .map(Kind::configName)
                                        .toList())));
    }

    private static RejectionRule rule(Kind kind, String threshold) {
        double[] bounds = Thresholds.parse("rollout_rs_threshold", threshold);
        if (kind.isK1()) {
            if (bounds.length == 1 && bounds[0] < 1) {
                throw new IllegalArgumentException("Invalid rollout_rs_threshold '" + threshold + "': one bound of "
                        + kind.configName()
                        + " is the upper one, and its inverse the lower; write a number of at least 1, or two"
                        + " bounds such as 0.5_2.0");
            }
            double least = bounds.length == 1 ? 1 / bounds[0] : bounds[0];
            return new RejectionRule(kind, Math.log(least), Math.log(bounds[bounds.length - 1]));
        }
        if (bounds.length == 2) {
            throw new IllegalArgumentException("Invalid rollout_rs_threshold '" + threshold + "': " + kind.configName()
                    + " has an upper bound only; write one number");
        }
        return new RejectionRule(kind, Double.NEGATIVE_INFINITY, bounds[0]);
    }

    /** Whether each sampled token of one sequence stays. */
    boolean[] kept(double[] logRatios) {
        double[] statistics = statistics(logRatios);
        boolean[] kept = new boolean[statistics.length];
        for (int t = 0; t < kept.length; t++) {
            kept[t] = statistics[t] >= lower && statistics[t] <= upper;
        }
        return kept;
    }

    /** What the bounds apply to, at each sampled token; the same at all tokens for a rule on sequences. */
    private double[] statistics(double[] logRatios) {
        double[] divergences = Arrays.stream(logRatios)
                .map(LogRatios::hold)
                .map(kind.divergence)
                .toArray();
        double ofSequence = switch (kind.scope) {
            case TOKEN -> Double.NaN;
            case SEQ_SUM -> Arrays.stream(divergences).sum();
            case SEQ_MEAN -> Arrays.stream(divergences).average().orElse(0);
            case SEQ_MAX -> Arrays.stream(divergences).max().orElse(0);
        };
        if (kind.scope != Scope.TOKEN) {
            Arrays.fill(divergences, ofSequence);
        }
        return divergences;
    }

    Metrics metrics(double[] logRatios) {
        if (logRatios.length == 0) {
            return Metrics.empty();
        }
        String prefix = "rollout_corr/rollout_rs_" + kind.configName() + "_";
        double[] statistics = statistics(logRatios);
        int tokens = statistics.length;
        double mean = Arrays.stream(statistics).average().orElseThrow();
        double[] held = Arrays.stream(statistics)
                .map(value -> Math.max(kind.isK1() ? lower : 0, Math.min(upper, value)))
                .toArray();
        // For a rule on sequences each counts once.
        double[] units = kind.scope == Scope.TOKEN ? statistics : new double[] {mean};
        boolean[] kept = kept(logRatios);
        int rejected = RolloutCorrection.rejected(kept);
        Metrics metrics = Metrics.empty()
                .with(prefix + "mean", Metric.mean(Arrays.stream(statistics).sum(), tokens))
                .with(prefix + "max", Metric.max(Arrays.stream(units).max().orElseThrow()))
                .with(prefix + "min", Metric.min(Arrays.stream(units).min().orElseThrow()))
                .with(prefix + "fraction_high", share(units, value -> value > upper))
                .with(prefix + "fraction_low", share(units, value -> value < lower))
                .with(prefix + "std", Metric.standardDeviation(held))
                .with(prefix + "seq_mean", Metric.mean(mean, 1))
                .with(prefix + "seq_std", Metric.sampleStandardDeviation(mean))
                .with(prefix + "seq_max", Metric.max(mean))
                .with(prefix + "seq_min", Metric.min(mean))
                .with(prefix + "seq_max_deviation", Metric.max(Math.abs(mean)))
                .with(prefix + "seq_fraction_high", Metric.mean(mean > upper ? 1 : 0, 1))
                .with(prefix + "masked_fraction", Metric.mean(rejected, tokens))
                .with(prefix + "seq_masked_fraction", Metric.mean(rejected > 0 ? 1 : 0, 1));
        return kind.isK1() ? metrics.with(prefix + "seq_fraction_low", Metric.mean(mean < lower ? 1 : 0, 1)) : metrics;
    }

    private static Metric share(double[] values, DoublePredicate condition) {
        return Metric.mean((double) Arrays.stream(values).filter(condition).count(), values.length);
    }
}
