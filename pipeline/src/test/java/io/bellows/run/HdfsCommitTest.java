package io.bellows.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.bellows.SparkTest;
import io.bellows.trajectory.Table;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/** The commits of a run on HDFS, with a name node and a data node of its own. */
@Tag("slow")
class HdfsCommitTest extends SparkTest {

    @TempDir
    private static File folder;

    private static MiniDFSCluster hdfs;

    private FileSystem files;
    private Path root;
    private RunFixture fixture;

    @BeforeAll
    static void startHdfs() throws IOException {
        Configuration hadoop = new Configuration(spark.sparkContext().hadoopConfiguration());
        hdfs = new MiniDFSCluster.Builder(hadoop, folder).numDataNodes(1).build();
    }

    @AfterAll
    static void stopHdfs() {
        hdfs.shutdown();
    }

    @BeforeEach
    void aRun(TestInfo test) throws IOException {
        files = hdfs.getFileSystem();
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
    void ofManyWritersOfOneManifestTheFirstWinsAndTheOthersLeaveNothing() throws Exception {
        Configuration hadoop = files.getConf();
        Path file = new Path(root, "manifest.json");
        List<Callable<Boolean>> writers = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            byte[] content = ("writer " + i).getBytes(StandardCharsets.UTF_8);
            writers.add(() -> AtomicFile.create(files, hadoop, file, content));
        }
        ExecutorService pool = Executors.newFixedThreadPool(4);
        List<Boolean> created = new ArrayList<>();
        for (Future<Boolean> result : pool.invokeAll(writers)) {
            created.add(result.get());
        }
        pool.shutdown();

        assertThat(created).containsOnlyOnce(true);
        assertThat(names(root)).containsExactly("manifest.json");
        assertThat(new RunFiles(root.toString(), hadoop).text(file)).hasValue("writer " + created.indexOf(true));
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

    private List<String> names(Path path) throws IOException {
        List<String> names = new ArrayList<>();
        for (FileStatus status : files.listStatus(path)) {
            names.add(status.getPath().getName());
        }
        return names;
    }
}
