package io.bellows.run;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.expr;

import io.bellows.model.WeightDifference;
import io.bellows.trajectory.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import scala.jdk.javaapi.CollectionConverters;

/** Compares an iteration of a run with its replay. */
final class ReplayComparison {

    private static final String OF_NUMBERS = "abs(stored - replayed)";
    private static final String OF_ARRAYS =
            "array_max(zip_with(stored, replayed, (a, b) -> abs(CAST(a AS DOUBLE) - CAST(b AS DOUBLE))))";

    private final RunDirectory source;
    private final RunDirectory replay;
    private final int iteration;

    ReplayComparison(RunDirectory source, RunDirectory replay, int iteration) {
        this.source = source;
        this.replay = replay;
        this.iteration = iteration;
    }

    ReplayReport report() {
        List<String> trajectory = List.of("trajectory_id");
        List<String> segment = List.of("trajectory_id", "segment_index");
        return new ReplayReport(
                source.uri(),
                replay.uri(),
                iteration,
                rows(Table.SCORES, trajectory, "reward", OF_NUMBERS),
                rows(Table.EXPERIENCE, segment, "old_log_probs", OF_ARRAYS),
                rows(Table.EXPERIENCE, segment, "advantages", OF_ARRAYS),
                metrics(),
                source.checkpoint(iteration).map(this::weights).orElse(List.of()));
    }

    private ReplayReport.Rows rows(Table table, List<String> keys, String column, String difference) {
        Dataset<Row> joined = rows(source, table, keys, column, "stored")
                .join(
                        rows(replay, table, keys, column, "replayed"),
                        CollectionConverters.asScala(keys).toSeq(),
                        "full_outer");
        Row found = joined.agg(
                        expr("count(1)"),
                        expr("count_if(NOT (stored <=> replayed))"),
                        expr("coalesce(max(" + difference + "), 0D)"))
                .head();
        return new ReplayReport.Rows(found.getLong(0), found.getLong(1), found.getDouble(2));
    }

    private Dataset<Row> rows(RunDirectory run, Table table, List<String> keys, String column, String name) {
        List<Column> columns = new ArrayList<>();
        keys.forEach(key -> columns.add(col(key)));
        columns.add(col(column).as(name));
        return run.committed(iteration, table).select(columns.toArray(Column[]::new));
    }

    private List<ReplayReport.Metric> metrics() {
        Map<String, Double> stored = metrics(source);
        Map<String, Double> replayed = metrics(replay);
        TreeSet<String> names = new TreeSet<>(stored.keySet());
        names.addAll(replayed.keySet());
        List<ReplayReport.Metric> different = new ArrayList<>();
        for (String name : names) {
            Optional<Double> before = Optional.ofNullable(stored.get(name));
            if (!before.equals(Optional.ofNullable(replayed.get(name)))) {
                different.add(new ReplayReport.Metric(name, stored.get(name), replayed.get(name)));
            }
        }
        return different;
    }

    /** Without what depends on the clock, and without the validation, which a replay does not repeat. */
    private Map<String, Double> metrics(RunDirectory run) {
        Map<String, Double> metrics = new TreeMap<>(
                MetricRows.byIteration(run.committed(iteration, Table.METRICS)).get(0));
        metrics.keySet()
                .removeIf(name -> name.startsWith("timing_")
                        || name.startsWith("val-")
                        || name.equals("perf/time_per_step")
                        || name.equals("perf/throughput"));
        return metrics;
    }

    private List<ReplayReport.Weights> weights(Checkpoint stored) {
        Checkpoint replayed = replay.checkpoint(iteration).orElseThrow();
        List<ReplayReport.Weights> weights = new ArrayList<>();
        for (String folder : List.of("actor", "critic", "optimizer")) {
            Map<String, String> before = digests(stored, folder);
            Map<String, String> after = digests(replayed, folder);
            if (!before.isEmpty() && !after.isEmpty()) {
                boolean identical = before.equals(after);
                weights.add(new ReplayReport.Weights(folder, identical, largest(folder, identical, stored, replayed)));
            }
        }
        return weights;
    }

    private static Double largest(String folder, boolean identical, Checkpoint stored, Checkpoint replayed) {
        if (folder.equals("optimizer")) {
            return null;
        }
        return identical
                ? 0.0
                : WeightDifference.largest(
                        stored.localPath().resolve(folder), replayed.localPath().resolve(folder));
    }

    private static Map<String, String> digests(Checkpoint checkpoint, String folder) {
        Map<String, String> digests = new TreeMap<>();
        for (DataFile file : checkpoint.files()) {
            if (file.path().startsWith(folder + "/")) {
                digests.put(file.path(), file.sha256());
            }
        }
        return digests;
    }
}
