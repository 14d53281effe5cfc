package io.bellows.stage;

import static org.apache.spark.sql.functions.col;

import io.bellows.resident.ExecutorHost;
import io.bellows.resident.ExecutorHost.Role;
import io.bellows.resident.ResidentModel;
import io.bellows.resident.ResidentSettings;
import io.bellows.resident.WeightsRef;
import io.bellows.training.Trainer;
import io.bellows.training.TrainingSequence;
import io.bellows.training.UpdateSettings;
import io.bellows.training.collective.Collective;
import io.bellows.udfs.metrics.Metric;
import io.bellows.udfs.metrics.Metrics;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
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
     */
    public record Result(String weightsId, Metrics metrics, long optimizerSteps) implements Serializable {}

    /** What a rank returns: its part of the result, and the folder of the attempt that made it. */
    private record Part(int rank, Result result, String folder) implements Serializable {}

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
        Dataset<Row> dealt = ranks == 1 ? rows.repartition(1) : rows.repartitionById(ranks, col("rank"));
        JavaRDD<Row> ranked =
                dealt.sortWithinPartitions(col("mini_batch"), col("place")).javaRDD();
        return run(ranked, from, checkpoint, ranks);
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
        List<Integer> each = IntStream.range(0, ranks).boxed().toList();
        JavaRDD<Row> nothing = JavaSparkContext.fromSparkContext(spark.sparkContext())
                .parallelize(each, ranks)
                .mapPartitions(rank -> Collections.<Row>emptyIterator());
        return run(nothing, from, checkpoint, ranks);
    }

    private Result run(JavaRDD<Row> ranked, WeightsRef from, Path checkpoint, int ranks) {
        String folder = checkpoint.toString();
        Rendezvous meeting = Rendezvous.of(ranks, patience);
        String id = UUID.randomUUID().toString();
        List<Part> parts = new ArrayList<>(BarrierRdd.collect(
                OneTaskPerExecutor.where(ranks > 1, ranked),
                partition ->
                        List.of(update(partition, from, folder, id, meeting)).iterator()));
        if (parts.isEmpty()) { // Spark makes no task where it knows that there is no row
            throw new IllegalArgumentException("Cannot update " + owner + ": there are no rows to learn from");
        }
        parts.sort(java.util.Comparator.comparingInt(Part::rank));
        adopt(Path.of(parts.get(0).folder), checkpoint);
        Metrics metrics = Metrics.empty();
        for (Part part : parts) {
            metrics = metrics.merge(part.result.metrics);
        }
        Result first = parts.get(0).result;
        return new Result(first.weightsId, metrics, first.optimizerSteps);
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

    private Part update(Iterator<Row> rows, WeightsRef from, String checkpoint, String id, Rendezvous meeting) {
        TreeMap<Integer, List<TrainingSequence>> miniBatches = new TreeMap<>();
        rows.forEachRemaining(row -> miniBatches
                .computeIfAbsent(row.getAs("mini_batch"), index -> new ArrayList<>())
                .add(TrainingRows.read(row)));
        ResidentModel model = ExecutorHost.model(owner, role, from, resident);
        try (Collective ranks = meeting.join(model.rankInMemory(meeting.ranks()))) {
            try {
                String attempt = id + "-" + Rendezvous.attempt();
                Path folder = Path.of(checkpoint).resolve(".attempt-" + attempt);
                Result result = model.update(
                        from, settings, folder, attempt, ranks, trainer -> take(trainer, miniBatches, ranks, attempt));
                return new Part(ranks.rank(), result, folder.toString());
            } catch (RuntimeException | Error e) {
                ranks.abort(e);
                throw e;
            }
        }
    }

    /** Every rank takes part in every step, also where the plan has nothing for it. */
    private Result take(
            Trainer trainer, Map<Integer, List<TrainingSequence>> miniBatches, Collective ranks, String id) {
        Metrics metrics = Metrics.empty();
        for (int index : stepsOfAll(ranks, miniBatches.keySet())) {
            metrics = metrics.merge(trainer.step(miniBatches.getOrDefault(index, List.of())));
        }
        if (ranks.size() > 1) {
            metrics = metrics.with(
                    "timing_s/" + settings.objective().section() + "_communication",
                    Metric.mean(trainer.communicationSeconds(), 1));
        }
        return new Result(id, metrics, trainer.optimizerSteps());
    }

    private static Iterable<Integer> stepsOfAll(Collective ranks, Iterable<Integer> own) {
        List<Integer> mine = new ArrayList<>();
        own.forEach(mine::add);
        ByteBuffer told = ByteBuffer.allocate(mine.size() * Integer.BYTES);
        mine.forEach(told::putInt);
        TreeSet<Integer> all = new TreeSet<>();
        for (byte[] others : ranks.gather(told.array())) {
            ByteBuffer steps = ByteBuffer.wrap(others);
            while (steps.hasRemaining()) {
                all.add(steps.getInt());
            }
        }
        return all;
    }
}
