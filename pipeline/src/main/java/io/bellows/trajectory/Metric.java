package io.bellows.trajectory;

import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;

/**
 * One metric of one iteration, a row of {@link Table#METRICS}.
 *
 * @param runId the run
 * @param iteration the iteration
 * @param name verl's name, such as {@code critic/score/mean}
 * @param value the value; NaN where it is undefined
 */
public record Metric(String runId, int iteration, String name, double value) {

    /** The metric as a row. */
    public Row toRow() {
        return RowFactory.create(runId, iteration, name, value);
    }
}
