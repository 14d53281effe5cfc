package io.bellows.udfs.metrics;

/**
 * A mean, sum, minimum or maximum.
 *
 * @param kind how parts are merged
 * @param total weighted sum of a mean, otherwise the value itself
 * @param weight divisor of a mean, unused by the other kinds
 */
record ReducedMetric(Kind kind, double total, double weight) implements Metric {

    /** How parts of a metric become one value. */
    enum Kind {
        /** Sum of the totals over sum of the weights. */
        MEAN,
        /** Sum of the totals. */
        SUM,
        /** Smallest total. */
        MIN,
        /** Largest total. */
        MAX
    }

    @Override
    public String reduction() {
        return kind.name();
    }

    @Override
    public Metric merge(Metric metric) {
        if (!(metric instanceof ReducedMetric other) || kind != other.kind) {
            throw new IllegalArgumentException(
                    "Cannot merge a metric reduced by " + reduction() + " with one reduced by " + metric.reduction());
        }
        return switch (kind) {
            case MEAN -> Metric.mean(total + other.total, weight + other.weight);
            case SUM -> Metric.sum(total + other.total);
            case MIN -> Metric.min(Math.min(total, other.total));
            case MAX -> Metric.max(Math.max(total, other.total));
        };
    }

    @Override
    public boolean hasValue() {
        return kind != Kind.MEAN || weight > 0;
    }

    @Override
    public double value() {
        return kind == Kind.MEAN ? total / weight : total;
    }
}
