package io.bellows.run;

import io.bellows.config.BellowsConfig;
import io.bellows.data.Cursor;
import io.bellows.trajectory.Metric;
import io.bellows.trajectory.Schemas;
import io.bellows.trajectory.Table;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;

/** A run of two tables and a checkpoint per iteration, driven without any model. */
final class RunFixture {

    static final Duration PERIOD = Duration.ofSeconds(10);

    private final SparkSession spark;
    private final BellowsConfig config;
    private final ManualTime time = new ManualTime();
    final AtomicInteger bodiesCalled = new AtomicInteger();

    RunFixture(SparkSession spark, String uri, UnaryOperator<com.fasterxml.jackson.databind.node.ObjectNode> changes) {
        this.spark = spark;
        var node = Json.MAPPER.createObjectNode();
        node.putObject("trainer").put("default_local_dir", uri);
        this.config = BellowsConfig.fromResolved(changes.apply(node));
    }

    /** Starts as a driver does whose predecessor has gone silent. */
    RunDirectory start() {
        time.pass(PERIOD.multipliedBy(4));
        return RunDirectory.start(
                spark, config, Retention.byIteration(config.trainer()), time, time.scheduler(), PERIOD, () -> {});
    }

    RunDirectory startWhileAnotherWorks() {
        return RunDirectory.start(
                spark, config, Retention.byIteration(config.trainer()), time, time.scheduler(), PERIOD, () -> {});
    }

    /** One iteration, or what is left of it. */
    void iterate(RunDirectory run, int iteration) {
        run.commitTable(iteration, Table.SCORES, () -> scores(run, iteration), ManifestExtras.NONE.withExpectedRows(3));
        ManifestRef scores = run.manifest(iteration, Table.SCORES).orElseThrow().ref();
        Checkpoint checkpoint = checkpoint(run, iteration);
        ManifestExtras extras = ManifestExtras.NONE
                .withReads(List.of(scores))
                .withState(IterationState.of(checkpoint, new Cursor(0, 3L * iteration), iteration, 42, null));
        run.commitTable(iteration, Table.METRICS, () -> metrics(run, iteration), extras);
    }

    Checkpoint checkpoint(RunDirectory run, int iteration) {
        CheckpointAttempt attempt = run.beginCheckpoint(iteration);
        writeModel(attempt.uri("actor"), "weights " + iteration);
        writeModel(attempt.uri("optimizer"), "moments " + iteration);
        return run.publish(attempt);
    }

    Dataset<Row> scores(RunDirectory run, int iteration) {
        bodiesCalled.incrementAndGet();
        List<Row> rows = List.of(score(run, iteration, 0), score(run, iteration, 1), score(run, iteration, 2));
        return spark.createDataset(rows, Encoders.row(Schemas.struct(Table.SCORES)))
                .coalesce(1);
    }

    Dataset<Row> metrics(RunDirectory run, int iteration) {
        bodiesCalled.incrementAndGet();
        List<Row> rows = List.of(new Metric(run.runId(), iteration, "critic/score/mean", 0.5 * iteration).toRow());
        return spark.createDataset(rows, Encoders.row(Schemas.struct(Table.METRICS)));
    }

    private static Row score(RunDirectory run, int iteration, int sample) {
        String group = run.runId() + "/" + iteration + "/0";
        return RowFactory.create(
                run.runId(),
                iteration,
                group,
                sample,
                group + "/" + sample,
                "sums",
                (double) sample,
                scala.jdk.javaapi.CollectionConverters.asScala(java.util.Map.of("exact_match", (double) sample)),
                scala.jdk.javaapi.CollectionConverters.asScala(java.util.Map.of()),
                "scored",
                null);
    }

    // The update task writes through whatever it likes; here the file system of the run, so that it can be killed too.
    private void writeModel(String folder, String content) {
        try {
            var path = new org.apache.hadoop.fs.Path(folder, "model.safetensors");
            try (var out = path.getFileSystem(spark.sparkContext().hadoopConfiguration())
                    .create(path, false)) {
                out.writeUTF(content);
            }
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    static List<String> tree(Path folder) throws IOException {
        try (var files = Files.walk(folder)) {
            return files.map(path -> folder.relativize(path).toString())
                    .sorted()
                    .toList();
        }
    }
}
