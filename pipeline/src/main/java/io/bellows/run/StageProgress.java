package io.bellows.run;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.scheduler.AccumulableInfo;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorMetricsUpdate;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.sql.SparkSession;
import scala.jdk.javaapi.CollectionConverters;

/** Advances a progress bar by the rows that running tasks have written, as their heartbeats tell. For display only. */
final class StageProgress extends SparkListener implements AutoCloseable {

    private static final String ROWS_WRITTEN = "internal.metrics.output.recordsWritten";

    private final SparkSession spark;
    private final Progress.Stage bar;
    private final long total;
    private final Map<Long, Long> rowsByTask = new ConcurrentHashMap<>();
    private final AtomicLong shown = new AtomicLong();

    private StageProgress(SparkSession spark, Progress.Stage bar, long total) {
        this.spark = spark;
        this.bar = bar;
        this.total = total;
    }

    static StageProgress follow(SparkSession spark, Progress.Stage bar, long total) {
        StageProgress progress = new StageProgress(spark, bar, total);
        spark.sparkContext().addSparkListener(progress);
        return progress;
    }

    @Override
    public void onExecutorMetricsUpdate(SparkListenerExecutorMetricsUpdate update) {
        CollectionConverters.asJava(update.accumUpdates()).forEach(task -> {
            for (AccumulableInfo info : CollectionConverters.asJava(task._4())) {
                if (info.name().contains(ROWS_WRITTEN) && info.update().isDefined()) {
                    rowsByTask.put((Long) task._1(), ((Number) info.update().get()).longValue());
                }
            }
        });
        show();
    }

    @Override
    public void onTaskEnd(SparkListenerTaskEnd end) {
        if (end.taskMetrics() != null && end.taskMetrics().outputMetrics().recordsWritten() > 0) {
            rowsByTask.put(
                    end.taskInfo().taskId(), end.taskMetrics().outputMetrics().recordsWritten());
            show();
        }
    }

    private synchronized void show() {
        long rows = Math.min(
                total, rowsByTask.values().stream().mapToLong(Long::longValue).sum());
        if (rows > shown.get()) {
            bar.advance(rows - shown.getAndSet(rows));
        }
    }

    /** The stage is done, whatever the heartbeats told so far. */
    synchronized void complete() {
        if (total > shown.get()) {
            bar.advance(total - shown.getAndSet(total));
        }
    }

    @Override
    public void close() {
        spark.sparkContext().removeSparkListener(this);
    }
}
