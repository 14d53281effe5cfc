package io.bellows.run;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.SparkTest;
import io.bellows.trajectory.Table;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Kills the driver before every single change it makes to the file system, and looks at what the next one finds. */
@Tag("slow")
class CrashConsistencyTest extends SparkTest {

    @TempDir
    Path folder;

    @BeforeEach
    void registerFileSystem() {
        FaultyFileSystem.register(spark.sparkContext().hadoopConfiguration());
        spark.sparkContext().setLogLevel("OFF");
    }

    @AfterEach
    void healFileSystem() {
        FaultyFileSystem.heal();
        spark.sparkContext().setLogLevel("WARN");
    }

    @Test
    void whereverItStopsNothingHalfDoneIsSeenAndTheRunGoesOn() throws IOException {
        Path template = folder.resolve("template");
        RunFixture before = fixture(template);
        try (RunDirectory run = before.start()) {
            before.iterate(run, 1);
        }
        int kills = 0;
        while (killed(template, kills)) {
            kills++;
        }
        assertThat(kills).isGreaterThan(20);
    }

    /** Lets a driver make {@code changes} changes in the second iteration; returns whether that killed it. */
    private boolean killed(Path template, int changes) throws IOException {
        Path path = folder.resolve("run" + changes);
        copy(template, path);
        RunFixture fixture = fixture(path);
        RunDirectory run = fixture.start();
        FaultyFileSystem.failAfter(changes);
        boolean died = dies(() -> fixture.iterate(run, 2));
        FaultyFileSystem.heal();

        assertThat(RunDirectory.open(spark, FaultyFileSystem.SCHEME + ":" + path)
                        .verify())
                .as("problems after a kill after %d changes", changes)
                .isEmpty();
        checkTheNextDriver(fixture, path, changes);
        return died;
    }

    private static void checkTheNextDriver(RunFixture fixture, Path folder, int changes) throws IOException {
        try (RunDirectory run = fixture.start()) {
            int latest = run.latestCommittedIteration().orElseThrow();
            long scores = run.committed(Table.SCORES).count();
            assertThat(run.committed(Table.METRICS).count()).isEqualTo(latest);
            assertThat(scores).isIn(3L * latest, 6L);
            assertThat(run.latestCheckpoint().orElseThrow().iteration()).isEqualTo(latest);
            assertThat(RunFixture.tree(folder))
                    .as("orphans after a kill after %d changes", changes)
                    .noneMatch(name -> name.matches("(.*/)?\\.[^/]+"))
                    .filteredOn(name -> name.matches("iterations/\\d+/\\w+/attempt-[^/]*"))
                    .hasSize((int) (latest + scores / 3));

            if (latest == 1) {
                fixture.iterate(run, 2);
            }
            assertThat(run.latestCommittedIteration()).hasValue(2);
            assertThat(run.committed(Table.SCORES).count()).isEqualTo(6);
            assertThat(run.checkpoint(1)).isEmpty();
        }
    }

    private RunFixture fixture(Path path) {
        return new RunFixture(spark, FaultyFileSystem.SCHEME + ":" + path, node -> {
            ((ObjectNode) node.get("trainer")).put("max_actor_ckpt_to_keep", 1);
            return node;
        });
    }

    private static void copy(Path from, Path to) throws IOException {
        for (String name : RunFixture.tree(from)) {
            Files.copy(from.resolve(name), to.resolve(name));
        }
    }

    private static boolean dies(Runnable work) {
        try {
            work.run();
            return FaultyFileSystem.isDead();
        } catch (Exception e) {
            // Checked exceptions too: Scala throws them undeclared.
            assertThat(e).hasStackTraceContaining("killed before");
            return true;
        }
    }
}
