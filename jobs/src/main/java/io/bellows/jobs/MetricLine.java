package io.bellows.jobs;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;

/** The one line an iteration gets on the console: the metrics people watch, under verl's names; all others are in the table. */
final class MetricLine {

    private static final String VALIDATION = "val-core/";
    private static final String TIMES = "timing_s/";

    /** In this order. */
    private static final List<String> SHOWN = List.of(
            "critic/rewards/mean",
            VALIDATION,
            "response_length/mean",
            "actor/ppo_kl",
            "actor/kl_loss",
            "actor/entropy",
            "actor/pg_clipfrac",
            "actor/grad_norm",
            "train/loss",
            "val/loss",
            "actor/lr",
            TIMES,
            "perf/throughput");

    private MetricLine() {}

    /** {@code step:7 - critic/rewards/mean:0.531 - …}, as verl prints it. */
    static String of(int iteration, Map<String, Double> metrics) {
        StringJoiner line = new StringJoiner(" - ").add("step:" + iteration);
        for (String shown : SHOWN) {
            metrics.entrySet().stream()
                    .filter(metric -> matches(metric.getKey(), shown))
                    .sorted(Map.Entry.comparingByKey(Comparator.naturalOrder()))
                    .forEach(metric -> line.add(metric.getKey() + ":" + number(metric.getValue())));
        }
        return line.toString();
    }

    private static boolean matches(String name, String shown) {
        return switch (shown) {
            case VALIDATION -> name.startsWith(VALIDATION) && name.endsWith("/acc/mean@1");
            case TIMES -> name.startsWith(TIMES);
            default -> name.equals(shown);
        };
    }

    /** A number with as many digits as a person reads. */
    static String number(double value) {
        double size = Math.abs(value);
        if (Double.isNaN(value)) {
            return "n/a";
        }
        if (value == Math.rint(value) && size < 1e9) {
            return Long.toString((long) value);
        }
        String format = size >= 1000 ? "%.0f" : size >= 10 ? "%.1f" : size >= 0.001 ? "%.3f" : "%.1e";
        return String.format(Locale.ROOT, format, value);
    }
}
