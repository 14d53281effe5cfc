package io.bellows.udfs.loss;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Estimators of the KL divergence from a reference policy on one sampled token, verl's {@code kl_penalty} and
 * {@code kl_loss_type}. With {@code d = logProb − refLogProb}; see J. Schulman, "Approximating KL divergence" (2020).
 *
 * <p>Kinds with a {@code +} have the value of their base kind and the derivative of {@link #K2}, whose gradient is an unbiased
 * estimate of the gradient of the KL divergence, which that of the other kinds is not.
 */
public enum KlPenalty {
    /** d. */
    K1("kl", "k1"),
    /** |d|. */
    ABS("abs"),
    /** d²/2. */
    K2("mse", "k2"),
    /** exp(−d) + d − 1, with −d held to ±20 and the result to at most 10, as in verl. */
    K3("low_var_kl", "k3"),
    /** Value of {@link #K1}, derivative of {@link #K2}. */
    K1_PLUS("kl+", "k1+"),
    /** Value of {@link #ABS}, derivative of {@link #K2}. */
    ABS_PLUS("abs+"),
    /** Value of {@link #K2}, derivative of {@link #K2}. */
    K2_PLUS("mse+", "k2+"),
    /** Value of {@link #K3}, derivative of {@link #K2}. */
    K3_PLUS("low_var_kl+", "k3+");

    /** Bound of the log-ratio of {@link #K3}. */
    public static final double MAX_LOG_RATIO = 20;

    /** Largest value of {@link #K3}. */
    public static final double MAX_K3 = 10;

    private final List<String> configNames;

    KlPenalty(String... configNames) {
        this.configNames = List.of(configNames);
    }

    /**
     * The kind of this name in a configuration: {@code kl} or {@code k1}, {@code abs}, {@code mse} or {@code k2},
     * {@code low_var_kl} or {@code k3}, each also with {@code +}.
     *
     * @throws IllegalArgumentException naming the known kinds, if there is none; {@code full} is not among them, as it needs the
     *     whole distributions
     */
    public static KlPenalty of(String configName) {
        return Arrays.stream(values())
                .filter(kind -> kind.configNames.contains(configName))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "Unsupported KL penalty '" + configName + "': use one of " + names()));
    }

    /**
     * The estimate on one token.
     *
     * @param logProb log-probability under the policy
     * @param refLogProb log-probability under the reference
     */
    public double value(double logProb, double refLogProb) {
        double d = logProb - refLogProb;
        return switch (this) {
            case K1, K1_PLUS -> d;
            case ABS, ABS_PLUS -> Math.abs(d);
            case K2, K2_PLUS -> 0.5 * d * d;
            case K3, K3_PLUS -> k3(-d);
        };
    }

    /** Derivative of {@link #value} with respect to {@code logProb}; for the {@code +} kinds that of {@link #K2}. */
    public double derivative(double logProb, double refLogProb) {
        double d = logProb - refLogProb;
        return switch (this) {
            case K1 -> 1;
            case ABS -> Math.signum(d);
            case K2, K1_PLUS, ABS_PLUS, K2_PLUS, K3_PLUS -> d;
            case K3 -> Math.abs(d) <= MAX_LOG_RATIO && k3(-d) < MAX_K3 ? -Math.expm1(-d) : 0;
        };
    }

    private static double k3(double logRatio) {
        double r = Math.max(-MAX_LOG_RATIO, Math.min(MAX_LOG_RATIO, logRatio));
        // expm1 keeps the digits that exp(r) − 1 would lose where the policies are close, which is nearly everywhere.
        return Math.min(Math.expm1(r) - r, MAX_K3);
    }

    private static String names() {
        return Arrays.stream(values())
                .flatMap(kind -> Stream.of(kind.configNames.toArray(new String[0])))
                .collect(Collectors.joining(", "));
    }
}
