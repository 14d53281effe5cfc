package io.bellows.data;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.struct;
import static org.apache.spark.sql.functions.to_json;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.data.SourceFile.Kind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.util.SerializableConfiguration;
import org.apache.spark.util.TaskCompletionListener;

/**
 * Rows of files as JSON text with their place: (file, row, json, problem). JSON lines are read one task a file, because
 * only who reads a file from its beginning knows the line it is at; Parquet is split as Spark likes.
 */
final class RawRows {

    private static final int SAMPLE_ROWS = 100;
    /**
     * The beginning of a file.
     *
     * @param columns columns of the schema, or keys of the rows
     * @param rows the first rows that can be read
     */
    record Sample(Set<String> columns, List<ObjectNode> rows) {}

    private final SparkSession spark;
    private final Map<Integer, Dataset<Row>> tables = new HashMap<>();

    RawRows(SparkSession spark) {
        this.spark = spark;
    }

    /** Every row of the files. The order of the result means nothing; (file, row) does. */
    JavaRDD<Row> read(List<SourceFile> files) {
        List<SourceFile> lines =
                files.stream().filter(file -> file.kind() == Kind.JSON_LINES).toList();
        JavaRDD<Row> rows = context().emptyRDD();
        if (!lines.isEmpty()) {
            SerializableConfiguration hadoop =
                    new SerializableConfiguration(spark.sessionState().newHadoopConf());
            // Files go with the function, which is always sent as Java objects; elements may meet Kryo, which reads no
            // records.
            List<Integer> indices = IntStream.range(0, lines.size()).boxed().toList();
            rows = context()
                    .parallelize(indices, indices.size())
                    .flatMap(index -> rows(lines.get(index), hadoop.value()));
        }
        for (SourceFile file : files) {
            rows = file.kind() == Kind.PARQUET ? rows.union(parquet(file).javaRDD()) : rows;
        }
        return rows;
    }

    private JavaSparkContext context() {
        return JavaSparkContext.fromSparkContext(spark.sparkContext());
    }

    /**
     * The beginning of a file.
     *
     * @throws InvalidDatasetException when the file is one JSON array
     */
    Sample sample(SourceFile file) {
        List<String> rows = file.kind() == Kind.PARQUET
                ? parquet(file).limit(SAMPLE_ROWS).select("json").collectAsList().stream()
                        .map(row -> row.getString(0))
                        .toList()
                : firstLines(file);
        Set<String> columns = new LinkedHashSet<>();
        if (file.kind() == Kind.PARQUET) {
            columns.addAll(Arrays.asList(table(file).columns()));
        }
        List<ObjectNode> parsed = new ArrayList<>();
        for (String row : rows) {
            try {
                ObjectNode object = RowJson.parseRow(row);
                parsed.add(object);
                columns.addAll(RowJson.fields(object));
            } catch (IllegalArgumentException e) {
                // the load reports it with its line
            }
        }
        return new Sample(columns, parsed);
    }

    private List<String> firstLines(SourceFile file) {
        List<String> first = new ArrayList<>();
        try (JsonLines lines = JsonLines.open(file.path(), spark.sessionState().newHadoopConf())) {
            while (lines.hasNext() && first.size() < SAMPLE_ROWS) {
                String line = lines.next().text();
                if (line != null && !line.isBlank()) {
                    first.add(line);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read " + file.displayPath(), e);
        }
        if (!first.isEmpty() && first.get(0).stripLeading().startsWith("[")) {
            throw new InvalidDatasetException("Unsupported JSON array in " + file.displayPath()
                    + ": expected one object a line; convert it with: jq -c '.[]' FILE.json > FILE.jsonl");
        }
        return first;
    }

    private static Iterator<Row> rows(SourceFile file, Configuration hadoop) throws IOException {
        JsonLines lines = JsonLines.open(file.path(), hadoop);
        TaskContext.get().addTaskCompletionListener((TaskCompletionListener) context -> {
            try {
                lines.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                return lines.hasNext();
            }

            @Override
            public Row next() {
                JsonLines.Line line = lines.next();
                return RowFactory.create(file.index(), line.row(), line.text(), line.problem());
            }
        };
    }

    private Dataset<Row> parquet(SourceFile file) {
        Dataset<Row> table = table(file);
        Column[] columns = Arrays.stream(table.columns())
                .map(name -> table.col("`" + name.replace("`", "``") + "`"))
                .toArray(Column[]::new);
        return table.select(
                lit(file.index()).as("file"),
                col("_metadata.row_index").as("row"),
                // Parquet unifies uneven structs by adding null fields: without them a row is what it was.
                to_json(struct(columns), Map.of("ignoreNullFields", "true")).as("json"),
                lit(null).cast(DataTypes.StringType).as("problem"));
    }

    private Dataset<Row> table(SourceFile file) {
        return tables.computeIfAbsent(file.index(), index -> open(file));
    }

    private Dataset<Row> open(SourceFile file) {
        try {
            return spark.read().parquet(file.path());
        } catch (RuntimeException e) {
            throw new InvalidDatasetException(
                    "Cannot read Parquet file " + file.displayPath() + ": " + e.getMessage(), e);
        }
    }
}
