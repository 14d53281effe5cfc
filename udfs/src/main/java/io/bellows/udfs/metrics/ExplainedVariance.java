package io.bellows.udfs.metrics;

import io.bellows.udfs.statistics.Moments;

/**
 * The share of the variance of returns R that predictions V explain: {@code 1 − Var(R − V) / (Var(R) + 1e-5)}, verl's
 * {@code critic/vf_explained_var}. Variances are unbiased, over all pairs of all merged parts (see {@link Moments}). Without
 * two pairs there is no value.
 */
public final class ExplainedVariance implements Metric {
    private static final double EPSILON = 1e-5;

    private final Moments returns;
    private final Moments errors;

    private ExplainedVariance(Moments returns, Moments errors) {
        this.returns = returns;
        this.errors = errors;
    }

    /** Of no pair at all: the start of a sum by {@link #with}. */
    public static ExplainedVariance empty() {
        return new ExplainedVariance(Moments.NONE, Moments.NONE);
    }

    /** These pairs and one more. */
    public ExplainedVariance with(double actual, double predicted) {
        return new ExplainedVariance(returns.merge(Moments.of(actual)), errors.merge(Moments.of(actual - predicted)));
    }

    @Override
    public String reduction() {
        return "EXPLAINED_VARIANCE";
    }

    @Override
    public Metric merge(Metric metric) {
        if (!(metric instanceof ExplainedVariance other)) {
            throw new IllegalArgumentException(
                    "Cannot merge a metric reduced by " + reduction() + " with one reduced by " + metric.reduction());
        }
        return new ExplainedVariance(returns.merge(other.returns), errors.merge(other.errors));
    }

    @Override
    public boolean hasValue() {
        return returns.count() >= 2;
    }

    @Override
    public double value() {
        return 1 - errors.variance() / (returns.variance() + EPSILON);
    }
}
