package io.bellows.stage;

import io.bellows.cluster.RankRows;
import io.bellows.cluster.WorkerGroup;
import io.bellows.resident.ExecutorHost.Role;
import io.bellows.resident.ResidentSettings;
import io.bellows.resident.WeightsRef;
import io.bellows.training.UpdateSettings;
import io.bellows.udfs.metrics.Metrics;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Planned experience in, new weights of the policy or the critic out: the update as a barrier stage, one task per rank and one rank
 * per executor.
 *
 * <p>Input columns: those that {@link TrainingRows} reads, and {@code mini_batch}, {@code place} and {@code rank} of the plan.
 *
 * @param owner the run
 * @param role the model that is updated
 * @param resident how executors set the model up
 * @param settings objective, schedule and budgets
 * @param patience longest wait of a rank for another
 */
public record UpdateStage(
        String owner, Role role, ResidentSettings resident, UpdateSettings settings, Duration patience)
        implements Serializable {

    /**
     * What an update came to.
     *
     * @param weightsId id of the new weights
     * @param metrics of all optimizer steps, merged, under verl's names
     * @param optimizerSteps the model's optimizer steps of the whole run so far
     * @param ranks how many made it, each of which has the new weights in memory
     */
    public record Result(String weightsId, Metrics metrics, long optimizerSteps, int ranks) implements Serializable {}

    /**
     * Runs the update.
     *
     * @param rows planned rows
     * @param from the weights to start from
     * @param checkpoint a folder that driver and executors reach under the same path
     * @param ranks the number of ranks that the rows are planned for
     * @return metrics and the id of the weights now in {@code checkpoint}
     */
    public Result run(Dataset<Row> rows, WeightsRef from, Path checkpoint, int ranks) {
        List<ModelWorker.Part> parts = workers(rows.sparkSession(), ranks)
                .update(RankRows.dealt(rows, "rank", "mini_batch", "place"), change(from, checkpoint));
        if (parts.isEmpty()) { // Spark makes no task where it knows that there is no row
            throw new IllegalArgumentException("Cannot update " + owner + ": there are no rows to learn from");
        }
        return whole(parts, checkpoint);
    }

    /**
     * Writes the weights as they are, for iterations in which the model does not learn: every checkpoint is whole.
     *
     * @param spark the session
     * @param from the weights to keep
     * @param checkpoint a folder that driver and executors reach under the same path
     * @param ranks how many ranks write it
     * @return no metrics, and the id of the weights in {@code checkpoint}
     */
    public Result keep(SparkSession spark, WeightsRef from, Path checkpoint, int ranks) {
        return whole(workers(spark, ranks).keep(change(from, checkpoint)), checkpoint);
    }

    private ModelWorker workers(SparkSession spark, int ranks) {
        return new WorkerGroup(spark, ranks, patience)
                .workers(ModelWorker.class, meeting -> new ModelRank(owner, resident, settings, meeting));
    }

    private ModelWorker.Change change(WeightsRef from, Path checkpoint) {
        return new ModelWorker.Change(
                role, from, checkpoint.toString(), UUID.randomUUID().toString());
    }

    /** Takes the checkpoint over, and makes one result of those of the ranks. */
    private static Result whole(List<ModelWorker.Part> parts, Path checkpoint) {
        List<ModelWorker.Part> byRank = parts.stream()
                .sorted(Comparator.comparingInt(ModelWorker.Part::rank))
                .toList();
        ModelWorker.Part first = byRank.get(0);
        adopt(Path.of(first.folder()), checkpoint);
        Metrics metrics = Metrics.empty();
        for (ModelWorker.Part part : byRank) {
            metrics = metrics.merge(part.result().metrics());
        }
        return new Result(first.result().weightsId(), metrics, first.result().optimizerSteps(), byRank.size());
    }

    /** An attempt that Spark gave up may still write: each has a folder of its own, and the one that ended is taken. */
    private static void adopt(Path attempt, Path checkpoint) {
        try {
            try (Stream<Path> written = Files.list(attempt)) {
                for (Path folder : written.toList()) {
                    Path target = Files.createDirectories(checkpoint.resolve(folder.getFileName()));
                    try (Stream<Path> files = Files.list(folder)) {
                        for (Path file : files.toList()) {
                            Files.move(file, target.resolve(file.getFileName()));
                        }
                    }
                    Files.delete(folder);
                }
            }
            Files.delete(attempt);
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "Cannot take over the checkpoint in " + attempt + ": " + e.getMessage()
                            + "; driver and executors must reach it under the same path",
                    e);
        }
    }
}
