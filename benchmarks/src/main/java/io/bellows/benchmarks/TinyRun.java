package io.bellows.benchmarks;

import io.bellows.config.BellowsConfig;
import io.bellows.run.Progress;
import io.bellows.run.RunDirectory;
import io.bellows.run.RunSummary;
import io.bellows.run.TrainLoop;
import io.bellows.trajectory.Table;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.spark.sql.SparkSession;

/**
 * A short deterministic run of the tests' tiny model, the same whatever its directory is called.
 *
 * @param directory of the run
 * @param iterations of the run
 * @param more settings
 */
record TinyRun(Path directory, int iterations, List<String> more) {

    /**
     * What a run left behind.
     *
     * @param trajectories rows of the table, committed
     * @param experience rows of the table, committed
     * @param distinct different trajectories among both
     * @param weights SHA-256 of the last policy and its optimizer state
     * @param problems that {@code bellows verify} would name
     */
    record Result(long trajectories, long experience, long distinct, String weights, List<String> problems) {

        String rows() {
            return trajectories + " + " + experience
                    + (distinct == trajectories && distinct == experience ? "" : ", " + distinct + " different");
        }
    }

    TinyRun(Path directory, int iterations, String... more) {
        this(directory, iterations, List.of(more));
    }

    BellowsConfig config() {
        Path tests = Path.of(System.getProperty("bellows.home", "."), "pipeline/src/test/resources");
        List<String> overrides = new ArrayList<>(List.of(
                "data.train_files=" + tests.resolve("data/gsm8k/test.jsonl"),
                "model.path=" + tests.resolve("golden/models/qwen2"),
                "trainer.total_training_steps=" + iterations,
                "trainer.default_local_dir=" + directory));
        overrides.addAll(more);
        return BellowsConfig.load(tests.resolve("tiny-run.yaml"), overrides);
    }

    /** Starts it, or goes on. */
    RunSummary train(SparkSession spark, Progress progress) {
        return new TrainLoop(spark, config(), progress).run();
    }

    Result result(SparkSession spark) {
        try (RunDirectory run = RunDirectory.open(spark, directory.toString())) {
            Path last = directory.resolve("checkpoints/%06d".formatted(iterations));
            return new Result(
                    run.committed(Table.TRAJECTORIES).count(),
                    run.committed(Table.EXPERIENCE).count(),
                    run.committed(Table.TRAJECTORIES)
                            .select("trajectory_id", "segment_index")
                            .union(run.committed(Table.EXPERIENCE).select("trajectory_id", "segment_index"))
                            .distinct()
                            .count(),
                    sha256(List.of(last.resolve("actor"), last.resolve("optimizer"))),
                    run.verify());
        }
    }

    /** The manifest of a table, whose presence is its commit. */
    Path manifest(int iteration, String table) {
        return directory
                .resolve("iterations/%06d".formatted(iteration))
                .resolve(table)
                .resolve("manifest.json");
    }

    private static String sha256(List<Path> folders) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            for (Path folder : folders) {
                try (var files = Files.list(folder)) {
                    for (Path file : files.filter(name -> name.toString().endsWith(".safetensors"))
                            .sorted()
                            .toList()) {
                        digest.update(Files.readAllBytes(file));
                    }
                }
            }
            return HexFormat.of().formatHex(digest.digest());
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read the checkpoint in " + folders, e);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
