package io.bellows.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.SparkTest;
import io.bellows.data.Cursor;
import io.bellows.trajectory.Table;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.hadoop.conf.Configuration;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.util.HadoopInputFile;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunDirectoryTest extends SparkTest {

    @TempDir
    Path folder;

    private RunFixture fixture;

    @BeforeEach
    void aRun() {
        fixture = with(node -> node);
    }

    @Test
    void committedTablesAreReadBackAndViewed() {
        try (RunDirectory run = fixture.start()) {
            fixture.iterate(run, 1);
            fixture.iterate(run, 2);

            assertThat(run.latestCommittedIteration()).hasValue(2);
            assertThat(run.latestState().orElseThrow().cursor()).isEqualTo(new Cursor(0, 6));
            assertThat(run.committed(Table.TRAJECTORIES).count()).isZero();
            assertThat(run.committed(1, Table.SCORES).count()).isEqualTo(3);
            run.createViews();
            assertThat(spark.sql("SELECT iteration, value FROM metrics ORDER BY iteration")
                            .as(Encoders.tuple(Encoders.INT(), Encoders.DOUBLE()))
                            .collectAsList())
                    .containsExactly(scala.Tuple2.apply(1, 0.5), scala.Tuple2.apply(2, 1.0));
            assertThat(spark.sql("SELECT sum(reward) FROM scores").first().getDouble(0))
                    .isEqualTo(6.0);
            assertThat(run.verify()).isEmpty();
        }
    }

    @Test
    void aCommittedStageIsNotRunAgain() {
        try (RunDirectory run = fixture.start()) {
            fixture.iterate(run, 1);
        }
        int calls = fixture.bodiesCalled.get();
        try (RunDirectory run = fixture.start()) {
            Dataset<Row> scores = run.commitTable(1, Table.SCORES, () -> fixture.scores(run, 1), ManifestExtras.NONE);

            assertThat(scores.count()).isEqualTo(3);
            assertThat(fixture.bodiesCalled).hasValue(calls);
        }
    }

    @Test
    void readersSeeOnlyTheFilesOfTheManifest() throws IOException {
        try (RunDirectory run = fixture.start()) {
            fixture.iterate(run, 1);
            Path attempt = attemptOf(run, 1, Table.SCORES);
            Path part = partOf(attempt);
            Files.copy(part, attempt.resolve("part-99999-stray.parquet"));

            assertThat(run.committed(Table.SCORES).count()).isEqualTo(3);
        }
    }

    @Test
    void rowsInAnotherOrderOrMadeBySqlAreBroughtToTheSchema() {
        try (RunDirectory run = fixture.start()) {
            Dataset<Row> bySql = spark.sql("SELECT CAST(0.5 AS DOUBLE) value, 'a/b' name, 1 iteration, 'r' run_id");

            run.commitTable(
                    0, Table.METRICS, () -> bySql, ManifestExtras.NONE.withState(IterationState.initial(42, null)));

            assertThat(run.committed(Table.METRICS).first().toString()).isEqualTo("[r,1,a/b,0.5]");
        }
    }

    @Test
    void floatsAreWrittenWithoutADictionaryAndIdsWithOne() throws IOException {
        try (RunDirectory run = fixture.start()) {
            Dataset<Row> rows =
                    spark.sql("SELECT 'r' run_id, 1 iteration, 'g' group_id, 0 sample_index, 'g/0' trajectory_id,"
                            + " 0 segment_index, 1D reward, array_repeat(0.5F, 99) old_log_probs, CAST(null AS ARRAY<FLOAT>)"
                            + " ref_log_probs, CAST(null AS ARRAY<FLOAT>) squared_probabilities, CAST(null AS ARRAY<FLOAT>) `values`, array(0F) token_level_rewards,"
                            + " array_repeat(1F, 99) advantages, array(0F) returns,"
                            + " array(1F) rollout_is_weights, array(1) corrected_mask FROM range(0, 9, 1, 1)");
            run.commitTable(1, Table.EXPERIENCE, () -> rows, ManifestExtras.NONE);

            Path part = partOf(attemptOf(run, 1, Table.EXPERIENCE));
            try (ParquetFileReader reader = ParquetFileReader.open(
                    HadoopInputFile.fromPath(new org.apache.hadoop.fs.Path(part.toUri()), new Configuration()))) {
                assertThat(reader.getFooter().getBlocks().get(0).getColumns())
                        .filteredOn(column -> column.hasDictionaryPage())
                        .extracting(column -> column.getPath().toDotString())
                        .contains("trajectory_id")
                        .doesNotContain("old_log_probs.list.element", "advantages.list.element");
            }
        }
    }

    @Test
    void rowsThatDoNotFitTheSchemaAreRefusedByColumn() {
        try (RunDirectory run = fixture.start()) {
            Dataset<Row> wrong = spark.sql("SELECT 'half' value, 'a/b' name, 1 iteration, 2 surplus");

            assertThatIllegalArgumentException()
                    .isThrownBy(() -> run.commitTable(1, Table.SCORES, () -> wrong, ManifestExtras.NONE))
                    .withMessageContaining("Invalid rows for the table scores: no column run_id");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> run.commitTable(
                            0,
                            Table.METRICS,
                            () -> wrong,
                            ManifestExtras.NONE.withState(IterationState.initial(1, null))))
                    .withMessage(
                            "Invalid rows for the table metrics: no column run_id; column value is string, expected"
                                    + " double; column surplus is not in the schema");
        }
    }

    @Test
    void anUnexpectedNumberOfRowsIsNotCommitted() {
        try (RunDirectory run = fixture.start()) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> run.commitTable(
                            1, Table.SCORES, () -> fixture.scores(run, 1), ManifestExtras.NONE.withExpectedRows(4)))
                    .withMessage("Cannot commit scores of iteration 1: 3 rows were written, expected 4");
            assertThat(run.isCommitted(1, Table.SCORES)).isFalse();
        }
    }

    @Test
    void anIterationIsNotCommittedWithoutItsCheckpoint() {
        try (RunDirectory run = fixture.start()) {
            assertThatIllegalArgumentException()
                    .isThrownBy(
                            () -> run.commitTable(1, Table.METRICS, () -> fixture.metrics(run, 1), ManifestExtras.NONE))
                    .withMessageContaining("its state names no checkpoint");
        }
    }

    @Test
    void damageBehindAManifestIsNamed() throws IOException {
        try (RunDirectory run = fixture.start()) {
            fixture.iterate(run, 1);
            Path attempt = attemptOf(run, 1, Table.SCORES);
            Path part = partOf(attempt);
            byte[] whole = Files.readAllBytes(part);

            byte[] flipped = whole.clone();
            flipped[whole.length / 2] ^= 1;
            Files.write(part, flipped);
            assertThat(run.verify())
                    .singleElement()
                    .asString()
                    .contains(
                            "Cannot read file:" + part + ": its manifest says SHA-256 ",
                            ", found ",
                            "restore the file");
            assertThatExceptionOfType(InvalidRunException.class)
                    .isThrownBy(
                            () -> run.commitTable(1, Table.SCORES, () -> fixture.scores(run, 1), ManifestExtras.NONE));

            Files.write(part, java.util.Arrays.copyOf(whole, whole.length - 7));
            assertThatExceptionOfType(InvalidRunException.class)
                    .isThrownBy(() -> run.committed(1, Table.SCORES))
                    .withMessageContaining("its manifest says " + whole.length + " bytes, found " + (whole.length - 7));

            Files.delete(part);
            assertThatExceptionOfType(InvalidRunException.class)
                    .isThrownBy(() -> run.committed(Table.SCORES))
                    .withMessageContaining("there is no such file")
                    .withMessageContaining("or delete file:");
        }
    }

    @Test
    void aTableMadeFromAnotherAttemptIsRefused() throws IOException {
        try (RunDirectory run = fixture.start()) {
            fixture.iterate(run, 1);
            Files.delete(folder.resolve("run/iterations/000001/scores/manifest.json"));
            run.commitTable(1, Table.SCORES, () -> fixture.scores(run, 1), ManifestExtras.NONE);

            assertThat(run.verify())
                    .singleElement()
                    .asString()
                    .contains("update/manifest.json: it was made from scores attempt-");
        }
    }

    @Test
    void checkpointsExpireAfterTheNewerCommitOnly() {
        fixture = with(node -> {
            ((ObjectNode) node.get("trainer")).put("save_freq", 3);
            return node;
        });
        try (RunDirectory run = fixture.start()) {
            for (int iteration = 1; iteration <= 6; iteration++) {
                fixture.iterate(run, iteration);
                if (iteration == 2) {
                    assertThat(run.checkpoint(1)).isPresent();
                }
            }
            assertThat(List.of(1, 2, 3, 4, 5, 6).stream()
                            .filter(iteration -> run.checkpoint(iteration).isPresent()))
                    .containsExactly(3, 5, 6);
            assertThat(run.latestCheckpoint().orElseThrow().iteration()).isEqualTo(6);
            assertThat(run.latestCheckpoint().orElseThrow().localPath().resolve("actor/model.safetensors"))
                    .exists();
            assertThat(run.verify()).isEmpty();
        }
    }

    @Test
    void aDamagedCheckpointIsNotContinuedFrom() throws IOException {
        try (RunDirectory run = fixture.start()) {
            fixture.iterate(run, 1);
            Path weights = folder.resolve("run/checkpoints/000001/actor/model.safetensors");
            Files.writeString(weights, "short");

            assertThatExceptionOfType(InvalidRunException.class)
                    .isThrownBy(run::latestCheckpoint)
                    .withMessageContaining("bytes, found 5; restore the checkpoint");
        }
    }

    @Test
    void aCheckpointWithAWrongBitIsNotContinuedFrom() throws IOException {
        try (RunDirectory run = fixture.start()) {
            fixture.iterate(run, 1);
            Path weights = folder.resolve("run/checkpoints/000001/actor/model.safetensors");
            byte[] bytes = Files.readAllBytes(weights);
            bytes[0] ^= 1;
            Files.write(weights, bytes);

            assertThatExceptionOfType(InvalidRunException.class)
                    .isThrownBy(run::latestCheckpoint)
                    .withMessageContaining("its manifest says SHA-256")
                    .withMessageContaining("restore the checkpoint");
            assertThat(run.verify()).hasSize(1);
        }
    }

    @Test
    void anotherConfigurationIsRefusedWithTheDifference() {
        fixture.start().close();
        RunFixture changed = with(node -> {
            node.putObject("rollout").put("n", 4);
            return node;
        });

        assertThatExceptionOfType(InvalidRunException.class)
                .isThrownBy(changed::start)
                .withMessageContaining("rollout.n was 1, is now 4")
                .withMessageContaining("choose another trainer.default_local_dir");
        fixture.start().close();
    }

    @Test
    void keysFreeToChangeMay() {
        fixture.start().close();
        RunFixture longer = with(node -> {
            ((ObjectNode) node.get("trainer")).put("total_training_steps", 9);
            return node;
        });

        try (RunDirectory run = longer.start()) {
            assertThat(run.config().trainer().totalTrainingSteps()).isEqualTo(9);
        }
    }

    @Test
    void resumingCanBeForbidden() {
        fixture.start().close();
        RunFixture afresh = with(node -> {
            ((ObjectNode) node.get("trainer")).put("resume_mode", "disable");
            return node;
        });

        assertThatExceptionOfType(InvalidRunException.class)
                .isThrownBy(afresh::start)
                .withMessageContaining("there is one already; set trainer.resume_mode=auto");
    }

    @Test
    void twoDriversDoNotWorkOnOneRun() {
        try (RunDirectory run = fixture.start()) {
            assertThatExceptionOfType(InvalidRunException.class).isThrownBy(fixture::startWhileAnotherWorks);

            try (RunDirectory successor = fixture.start()) {
                assertThatExceptionOfType(InvalidRunException.class)
                        .isThrownBy(() -> fixture.iterate(run, 1))
                        .withMessageContaining("another driver took it over");
                fixture.iterate(successor, 1);
            }
        }
    }

    @Test
    void openedToReadItWritesNothing() {
        try (RunDirectory run = fixture.start()) {
            fixture.iterate(run, 1);
            RunDirectory reader = RunDirectory.open(spark, folder.resolve("run").toString());

            assertThat(reader.runId()).isEqualTo(run.runId()).startsWith("run-");
            assertThat(reader.committed(Table.SCORES)
                            .agg(functions.count("*"))
                            .first()
                            .getLong(0))
                    .isEqualTo(3);
            assertThatExceptionOfType(InvalidRunException.class)
                    .isThrownBy(() -> reader.beginCheckpoint(2))
                    .withMessageContaining("it was opened to read");
        }
        assertThatExceptionOfType(InvalidRunException.class)
                .isThrownBy(() -> RunDirectory.open(spark, folder.toString()))
                .withMessageContaining("there is no run.json in it");
    }

    private RunFixture with(UnaryOperator<ObjectNode> changes) {
        return new RunFixture(spark, folder.resolve("run").toString(), changes);
    }

    private static Path partOf(Path attempt) throws IOException {
        try (var files = Files.list(attempt)) {
            return files.filter(file -> file.toString().endsWith(".parquet"))
                    .findFirst()
                    .orElseThrow();
        }
    }

    private Path attemptOf(RunDirectory run, int iteration, Table table) {
        return folder.resolve("run/iterations/%06d/%s/%s"
                .formatted(
                        iteration,
                        table.folder(),
                        run.manifest(iteration, table).orElseThrow().attempt()));
    }
}
