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
import io.bellows.udfs.metrics.Metrics;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Planned experience in, new weights of the policy or the critic out: the update as a barrier stage, here with one rank.
 *
 * <p>Input columns: those that {@link TrainingRows} reads, and {@code mini_batch} and {@code place} of the plan.
 *
 * @param owner the run
 * @param role the model that is updated
 * @param resident how executors set the model up
 * @param settings objective, schedule and budgets
 */
public record UpdateStage(String owner, Role role, ResidentSettings resident, UpdateSettings settings)
        implements Serializable {

    private static final int RANKS = 1;

    /**
     * What an update came to.
     *
     * @param weightsId id of the new weights
     * @param metrics of all optimizer steps, merged, under verl's names
     * @param optimizerSteps the model's optimizer steps of the whole run so far
     */
    public record Result(String weightsId, Metrics metrics, long optimizerSteps) implements Serializable {}

    /**
     * Runs the update.
     *
     * @param rows planned rows
     * @param from the weights to start from
     * @param checkpoint a folder that all executors reach under the same path
     * @return metrics and the id of the weights now in {@code checkpoint}
     */
    public Result run(Dataset<Row> rows, WeightsRef from, Path checkpoint) {
        String folder = checkpoint.toString();
        JavaRDD<Row> ranked = rows.repartition(RANKS)
                .sortWithinPartitions(col("mini_batch"), col("place"), col("segment_index"))
                .javaRDD();
        List<Result> results = BarrierRdd.collect(
                ranked, partition -> List.of(update(partition, from, folder)).iterator());
        if (results.isEmpty()) { // Spark makes no task where it knows that there is no row
            throw new IllegalArgumentException("Cannot update " + owner + ": there are no rows to learn from");
        }
        return results.get(0);
    }

    /**
     * Writes the weights as they are, for iterations in which the model does not learn: every checkpoint is whole.
     *
     * @param spark the session
     * @param from the weights to keep
     * @param checkpoint a folder that all executors reach under the same path
     * @return no metrics, and the id of the weights in {@code checkpoint}
     */
    public Result keep(SparkSession spark, WeightsRef from, Path checkpoint) {
        String folder = checkpoint.toString();
        JavaRDD<WeightsRef> one =
                JavaSparkContext.fromSparkContext(spark.sparkContext()).parallelize(List.of(from), RANKS);
        return BarrierRdd.collect(
                        one,
                        partition -> List.of(update(Collections.emptyIterator(), from, folder))
                                .iterator())
                .get(0);
    }

    private Result update(Iterator<Row> rows, WeightsRef from, String checkpoint) {
        TreeMap<Integer, List<TrainingSequence>> miniBatches = new TreeMap<>();
        rows.forEachRemaining(row -> miniBatches
                .computeIfAbsent(row.getAs("mini_batch"), index -> new ArrayList<>())
                .add(TrainingRows.read(row)));
        ResidentModel model = ExecutorHost.model(owner, role, from, resident);
        String id = UUID.randomUUID().toString();
        return model.update(from, settings, Path.of(checkpoint), id, trainer -> take(trainer, miniBatches, id));
    }

    private static Result take(Trainer trainer, Map<Integer, List<TrainingSequence>> miniBatches, String id) {
        Metrics metrics = Metrics.empty();
        for (List<TrainingSequence> batch : miniBatches.values()) {
            metrics = metrics.merge(trainer.step(batch));
        }
        return new Result(id, metrics, trainer.optimizerSteps());
    }
}
