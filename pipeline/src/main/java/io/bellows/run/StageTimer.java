package io.bellows.run;

import java.util.Map;
import java.util.function.Supplier;
import org.apache.spark.sql.SparkSession;

/** Runs the stages of one iteration with their progress bars, and notes their seconds. */
final class StageTimer {

    private final SparkSession spark;
    private final Progress progress;
    private final int iteration;
    private final Map<String, Double> metrics;

    /** @param metrics gets {@code timing_s/NAME} of each stage */
    StageTimer(SparkSession spark, Progress progress, int iteration, Map<String, Double> metrics) {
        this.spark = spark;
        this.progress = progress;
        this.iteration = iteration;
        this.metrics = metrics;
    }

    /** Runs a stage over {@code total} units; the seconds of stages of the same name add up. */
    <T> T time(String name, long total, String unit, Supplier<T> stage) {
        long start = System.nanoTime();
        try (Progress.Stage bar = progress.start(iteration, name, total, unit);
                StageProgress rows = StageProgress.follow(spark, bar, total)) {
            T result = stage.get();
            rows.complete();
            metrics.merge("timing_s/" + name, (System.nanoTime() - start) / 1e9, Double::sum);
            return result;
        }
    }
}
