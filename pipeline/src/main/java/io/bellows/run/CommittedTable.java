package io.bellows.run;

import io.bellows.trajectory.Schemas;
import io.bellows.trajectory.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import org.apache.avro.SchemaNormalization;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.api.java.function.MapFunction;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.DataFrameWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** Writes and reads the Parquet files behind one kind of table. */
final class CommittedTable {

    static final String ATTEMPT = "attempt-";
    private static final String ROUND = "round-%02d";

    private final SparkSession spark;
    private final RunFiles files;
    private final Table table;
    private final StructType schema;

    CommittedTable(SparkSession spark, RunFiles files, Table table) {
        this.spark = spark;
        this.files = files;
        this.table = table;
        this.schema = Schemas.struct(table);
    }

    Path folder(int iteration, int round) {
        Path first = files.path("iterations/%06d/%s".formatted(iteration, table.folder()));
        return round == 0 ? first : new Path(first, ROUND.formatted(round));
    }

    Path manifestPath(int iteration, int round) {
        return new Path(folder(iteration, round), "manifest.json");
    }

    String schemaSha256() {
        return Json.sha256(SchemaNormalization.toParsingForm(Schemas.avro(table)));
    }

    /** What was written: the name of the attempt's folder and the digests of its files. */
    record Written(String attempt, List<DataFile> files) {
        long rows() {
            return files.stream().mapToLong(DataFile::rows).sum();
        }
    }

    /** Writes a new attempt; nothing refers to it yet. */
    Written write(int iteration, int round, Supplier<Dataset<Row>> body) {
        String attempt = ATTEMPT + UUID.randomUUID();
        Path target = new Path(folder(iteration, round), attempt);
        writer(conform(body.get())).parquet(target.toString());
        List<Path> parts =
                files.dataFiles(target).stream().map(FileStatus::getPath).toList();
        return new Written(attempt, FileDigests.of(spark, files.hadoop(), folder(iteration, round), parts));
    }

    /** The rows of exactly the files that the manifests name. */
    Dataset<Row> read(List<Manifest> manifests) {
        List<String> paths = new ArrayList<>();
        for (Manifest manifest : manifests) {
            checkSizes(manifest);
            Path folder = folder(manifest.iteration(), manifest.round());
            manifest.files().forEach(file -> paths.add(new Path(folder, file.path()).toString()));
        }
        if (paths.isEmpty()) {
            return spark.createDataFrame(List.of(), schema);
        }
        return spark.read().schema(schema).parquet(paths.toArray(String[]::new));
    }

    /** Compares the files of a manifest, byte by byte of their checksum, with what the manifest says. */
    void verify(Manifest manifest) {
        checkSizes(manifest);
        Path folder = folder(manifest.iteration(), manifest.round());
        FileChecks.sameDigests(spark, files, folder, manifest.files(), remedy(manifest));
    }

    /** Deletes the attempts of a round that its manifest does not name. */
    void removeOrphans(int iteration, int round, Optional<Manifest> manifest) {
        for (FileStatus status : files.list(folder(iteration, round))) {
            String name = status.getPath().getName();
            boolean named = manifest.map(Manifest::attempt).equals(Optional.of(name));
            if ((name.startsWith(ATTEMPT) && !named) || name.startsWith(".")) {
                files.delete(status.getPath());
            }
        }
    }

    private void checkSizes(Manifest manifest) {
        if (!manifest.schemaSha256().equals(schemaSha256())) {
            throw new InvalidRunException("Unsupported table " + manifestPath(manifest.iteration(), manifest.round())
                    + ": its schema has checksum " + manifest.schemaSha256() + ", this version's has " + schemaSha256()
                    + "; read it with the version that wrote it");
        }
        FileChecks.sameSizes(files, folder(manifest.iteration(), manifest.round()), manifest.files(), remedy(manifest));
    }

    private String remedy(Manifest manifest) {
        return "restore the file, or delete " + manifestPath(manifest.iteration(), manifest.round())
                + " and the manifests after it to compute them again";
    }

    /** The columns of the schema by name, with its nullability, which the encoder enforces row by row. */
    private Dataset<Row> conform(Dataset<Row> rows) {
        StructType given = rows.schema();
        List<String> problems = new ArrayList<>();
        for (StructField field : schema.fields()) {
            if (!List.of(given.fieldNames()).contains(field.name())) {
                problems.add("no column " + field.name());
            } else if (!DataType.equalsIgnoreNullability(
                    given.apply(field.name()).dataType(), field.dataType())) {
                problems.add("column " + field.name() + " is "
                        + given.apply(field.name()).dataType().simpleString() + ", expected "
                        + field.dataType().simpleString());
            }
        }
        for (String name : given.fieldNames()) {
            if (!List.of(schema.fieldNames()).contains(name)) {
                problems.add("column " + name + " is not in the schema");
            }
        }
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException(
                    "Invalid rows for the table " + table.tableName() + ": " + String.join("; ", problems));
        }
        if (given.equals(schema)) {
            return rows;
        }
        Column[] columns =
                List.of(schema.fieldNames()).stream().map(functions::col).toArray(Column[]::new);
        return rows.select(columns).map((MapFunction<Row, Row>) row -> row, Encoders.row(schema));
    }

    // Floats that hardly repeat: a dictionary only costs time.
    private DataFrameWriter<Row> writer(Dataset<Row> rows) {
        DataFrameWriter<Row> writer = rows.write().option("compression", "zstd");
        for (StructField field : schema.fields()) {
            if (field.dataType() instanceof ArrayType array
                    && array.elementType().equals(DataTypes.FloatType)) {
                writer = writer.option("parquet.enable.dictionary#" + field.name() + ".list.element", "false");
            }
        }
        return writer;
    }
}
