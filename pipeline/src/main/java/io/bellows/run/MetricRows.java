package io.bellows.run;

import io.bellows.trajectory.Metric;
import io.bellows.trajectory.Schemas;
import io.bellows.trajectory.Table;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/** Metrics as rows of their table, and back. */
final class MetricRows {

    private MetricRows() {}

    static Dataset<Row> of(SparkSession spark, String runId, int iteration, Map<String, Double> metrics) {
        List<Row> rows = new ArrayList<>();
        metrics.forEach((name, value) -> rows.add(new Metric(runId, iteration, name, value).toRow()));
        return spark.createDataFrame(rows, Schemas.struct(Table.METRICS)).coalesce(1);
    }

    /** One map per iteration, in order; each holds {@code training/global_step} at least. */
    static List<Map<String, Double>> byIteration(Dataset<Row> metrics) {
        TreeMap<Integer, Map<String, Double>> iterations = new TreeMap<>();
        for (Row row : metrics.orderBy("iteration", "name").collectAsList()) {
            iterations
                    .computeIfAbsent(row.getAs("iteration"), iteration -> new LinkedHashMap<>())
                    .put(row.getAs("name"), row.getAs("value"));
        }
        return List.copyOf(iterations.values());
    }
}
