package io.bellows.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.bellows.SparkTest;
import io.bellows.trajectory.Table;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** What the commits of a run must do on any store, each scenario in a run of its own. */
abstract class CommitScenarios extends SparkTest {

    private FileSystem files;
    private Path root;
    private RunFixture fixture;

    /** Where the runs are to be. */
    abstract FileSystem store() throws IOException;

    @BeforeEach
    void aRun(TestInfo test) throws IOException {
        files = store();
        root = new Path(
                files.getUri() + "/" + test.getTestMethod().orElseThrow().getName());
        fixture = new RunFixture(spark, root.toString(), node -> node);
    }

    @Test
    void whatIsCommittedIsReadBackAndWhole() {
        try (RunDirectory run = fixture.start()) {
            fixture.iterate(run, 1);
            fixture.iterate(run, 2);
        }
        try (RunDirectory run = RunDirectory.open(spark, root.toString())) {
            assertThat(run.latestCommittedIteration()).hasValue(2);
            assertThat(run.committed(Table.SCORES).count()).isEqualTo(6);
            assertThat(run.latestCheckpoint().orElseThrow().iteration()).isEqualTo(2);
            assertThat(run.verify()).isEmpty();
        }
    }

    @Test
    void aSecondDriverIsRefusedAndTheLeaseOfASilentOneIsTakenOver() {
        try (RunDirectory run = fixture.start()) {
            assertThatExceptionOfType(InvalidRunException.class)
                    .isThrownBy(fixture::startWhileAnotherWorks)
                    .withMessageContaining("process " + ProcessHandle.current().pid());

            try (RunDirectory successor = fixture.start()) {
                assertThatExceptionOfType(InvalidRunException.class)
                        .isThrownBy(() -> fixture.iterate(run, 1))
                        .withMessageContaining("another driver took it over");
                fixture.iterate(successor, 1);
            }
        }
    }

    /** What a driver leaves that dies after a table, with a checkpoint half written and a manifest not yet renamed. */
    @Test
    void aDriverThatDiedBetweenTwoWritesIsFollowedByOneThatGoesOn() throws IOException {
        RunDirectory died = fixture.start();
        died.commitTable(1, Table.SCORES, () -> fixture.scores(died, 1), ManifestExtras.NONE);
        CheckpointAttempt attempt = died.beginCheckpoint(1);
        files.create(new Path(attempt.uri("actor"), "model.safetensors")).close();
        Path metrics = new Path(root, "iterations/000001/update");
        files.create(new Path(metrics, "attempt-lost/part-0.parquet")).close();
        files.create(new Path(metrics, ".manifest.json.lost")).close();
        int calls = fixture.bodiesCalled.get();

        try (RunDirectory run = fixture.start()) {
            assertThat(names(metrics)).as("leftovers").isEmpty();
            assertThat(names(new Path(root, "checkpoints"))).as("leftovers").isEmpty();
            fixture.iterate(run, 1);
            assertThat(fixture.bodiesCalled)
                    .as("the scores are not computed again")
                    .hasValue(calls + 1);
            assertThat(run.committed(Table.SCORES).count()).isEqualTo(3);
            assertThat(run.verify()).isEmpty();
        }
    }

    /** Of an object store nothing tells an empty folder from none. */
    private List<String> names(Path folder) {
        return new RunFiles(root.toString(), files.getConf())
                .list(folder).stream().map(status -> status.getPath().getName()).toList();
    }
}
