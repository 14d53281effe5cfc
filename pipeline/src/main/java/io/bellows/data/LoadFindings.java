package io.bellows.data;

import static org.apache.spark.sql.functions.coalesce;
import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.concat;
import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.count_distinct;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.max;
import static org.apache.spark.sql.functions.sha2;
import static org.apache.spark.sql.functions.to_json;
import static org.apache.spark.sql.functions.when;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/** What the rows of a dataset are like, before any is refused or left out. */
record LoadFindings(
        long rowsRead,
        long badRows,
        long goodRows,
        long overlongRows,
        long longestPrompt,
        List<RowProblem> problems,
        List<RowProblem> overlong) {

    /** Looks at rows that were read: one pass for the numbers, one more for each kind of trouble there is. */
    static LoadFindings of(Dataset<Row> read, List<SourceFile> files, DatasetOptions options) {
        Column bad = col("problem").isNotNull();
        Column tooLong = col("problem").isNull().and(col("prompt_length").gt(options.maxPromptLength()));
        Row totals = read.agg(
                        count(lit(1)),
                        count(when(bad, 1)),
                        count(when(tooLong, 1)),
                        coalesce(max(col("prompt_length")), lit(0)))
                .first();
        long rows = totals.getLong(0);
        long badRows = totals.getLong(1);
        long overlongRows = totals.getLong(2);
        return new LoadFindings(
                rows,
                badRows,
                rows - badRows - overlongRows,
                overlongRows,
                totals.getInt(3),
                badRows == 0 ? List.of() : listed(read.where(bad), col("problem"), files),
                overlongRows == 0
                        ? List.of()
                        : listed(read.where(tooLong), concat(col("prompt_length"), lit(" tokens")), files));
    }

    /** The report of a load that keeps {@code kept}, rows of {@link PromptSchema#PROMPT}. */
    LoadReport report(Dataset<Row> kept, Dataset<Row> flagged, List<SourceFile> files, List<Layout> layouts) {
        Column prompt = sha2(to_json(col("prompt")), 256);
        Row totals = kept.select(prompt.as("prompt"), col("ground_truth"))
                .agg(
                        count(lit(1)),
                        count_distinct(col("prompt")),
                        count_distinct(concat(col("prompt"), coalesce(concat(lit(":"), col("ground_truth")), lit("")))),
                        count(when(col("ground_truth").isNull(), 1)))
                .first();
        long rows = totals.getLong(0);
        List<LoadReport.File> read = new ArrayList<>();
        for (SourceFile file : files) {
            read.add(new LoadReport.File(
                    file.displayPath(), file.digest(), layouts.get(file.index()).name()));
        }
        long flags = flagged.count();
        return new LoadReport(
                read,
                rowsRead,
                rows,
                badRows,
                problems,
                overlongRows,
                longestPrompt,
                rows - totals.getLong(1),
                rows - totals.getLong(2),
                totals.getLong(3),
                flags,
                flags == 0 ? List.of() : listed(flagged, col("flag"), files));
    }

    private static List<RowProblem> listed(Dataset<Row> rows, Column reason, List<SourceFile> files) {
        return rows
                .select(col("file"), col("row"), reason)
                .orderBy("file", "row")
                .limit(LoadReport.MAX_LISTED)
                .collectAsList()
                .stream()
                .map(row -> files.get(row.getInt(0)).problem(row.getLong(1), row.getString(2)))
                .toList();
    }
}
