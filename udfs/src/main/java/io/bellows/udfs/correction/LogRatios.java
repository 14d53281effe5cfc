package io.bellows.udfs.correction;

/** Bounds of exponents, as in verl. */
final class LogRatios {
    static final double MAX = 20;

    private LogRatios() {}

    static double hold(double logRatio) {
        return Math.max(-MAX, Math.min(MAX, logRatio));
    }
}
