package io.bellows.udfs.metrics;

import io.bellows.udfs.statistics.Moments;

/** A metric that is told by the first two moments of numbers. */
record MomentsMetric(Kind kind, Moments moments) implements Metric {

    /** What is told. */
    enum Kind {
        STANDARD_DEVIATION,
        SAMPLE_STANDARD_DEVIATION,
        EFFECTIVE_SAMPLE_SIZE
    }

    static MomentsMetric of(Kind kind, double... values) {
        Moments moments = Moments.NONE;
        for (double value : values) {
            moments = moments.merge(Moments.of(value));
        }
        return new MomentsMetric(kind, moments);
    }

    @Override
    public String reduction() {
        return kind.name();
    }

    @Override
    public Metric merge(Metric metric) {
        if (!(metric instanceof MomentsMetric other) || kind != other.kind) {
            throw new IllegalArgumentException(
                    "Cannot merge a metric reduced by " + reduction() + " with one reduced by " + metric.reduction());
        }
        return new MomentsMetric(kind, moments.merge(other.moments));
    }

    @Override
    public boolean hasValue() {
        return moments.count() > 0;
    }

    @Override
    public double value() {
        return switch (kind) {
            case STANDARD_DEVIATION -> Math.sqrt(moments.squares() / moments.count());
            case SAMPLE_STANDARD_DEVIATION -> moments.count() == 1 ? 0 : Math.sqrt(moments.variance());
            case EFFECTIVE_SAMPLE_SIZE -> effectiveSampleSize();
        };
    }

    private double effectiveSampleSize() {
        double squareOfMean = moments.mean() * moments.mean();
        double meanOfSquares = moments.squares() / moments.count() + squareOfMean;
        return squareOfMean / meanOfSquares;
    }
}
