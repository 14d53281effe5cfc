package io.bellows.stage;

import static org.apache.spark.sql.functions.broadcast;
import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.collect_list;
import static org.apache.spark.sql.functions.expr;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.sort_array;
import static org.apache.spark.sql.functions.struct;
import static org.apache.spark.sql.functions.udf;

import io.bellows.udfs.correction.Correction;
import io.bellows.udfs.correction.RolloutCorrection;
import io.bellows.udfs.loss.Sequences;
import io.bellows.udfs.metrics.Metrics;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.api.java.UDF3;
import org.apache.spark.sql.expressions.UserDefinedFunction;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.collection.Seq;

/**
 * Log-probs in, corrected log-probs out: the difference between the engine's policy and the one that learns becomes a weight of each
 * token, and what is too far off loses its place in the mask.
 *
 * @param correction what is done about the difference
 */
public record RolloutCorrectionStage(RolloutCorrection correction) implements Serializable {

    private static final int METRIC_PARTITIONS = 16; // fixed, so that sums do not depend on the cluster

    private static final StructType CORRECTED = new StructType()
            .add("mask", DataTypes.createArrayType(DataTypes.IntegerType, false), false)
            .add("weights", DataTypes.createArrayType(DataTypes.FloatType, false), true)
            .add("sum", DataTypes.DoubleType, false)
            .add("count", DataTypes.LongType, false);

    /**
     * Describes the transformation. Weights that are normalized over the batch read {@code logProbs} twice: persist them, or the
     * models run twice.
     *
     * @param logProbs what {@link LogProbStage} returned
     * @param scores rows of {@link io.bellows.trajectory.Table#SCORES}: a trajectory without a reward does not count in the mean of the batch
     * @return the same rows; {@code response_mask} without what was rejected, which is in {@code corrected_mask} too, or null without
     *     rejection; {@code rollout_is_weights}, or null without weights; and {@code rejected}, true where no sampled token is left
     */
    public Dataset<Row> run(Dataset<Row> logProbs, Dataset<Row> scores) {
        if (!correction.hasWeights() && !correction.hasRejection()) {
            return logProbs.withColumn("corrected_mask", expr("CAST(NULL AS ARRAY<INT>)"))
                    .withColumn("rollout_is_weights", expr("CAST(NULL AS ARRAY<FLOAT>)"))
                    .withColumn("rejected", lit(false));
        }
        UserDefinedFunction correct = udf((UDF3<Seq<Float>, Seq<Float>, Seq<Integer>, Row>) this::correct, CORRECTED)
                .withName("rollout_correction");
        Dataset<Row> corrected = logProbs.withColumn(
                "corrected", correct.apply(col("old_log_probs"), col("rollout_log_probs"), col("response_mask")));
        return normalized(corrected, scores)
                .withColumn(
                        "rejected", expr("array_contains(response_mask, 1) AND NOT array_contains(corrected.mask, 1)"))
                .withColumn("response_mask", col("corrected.mask"))
                .withColumn(
                        "corrected_mask",
                        correction.hasRejection() ? col("response_mask") : expr("CAST(NULL AS ARRAY<INT>)"))
                .drop("corrected");
    }

    /** The weights, divided by their mean over the batch where that is asked for: summed in the order of the keys. */
    private Dataset<Row> normalized(Dataset<Row> corrected, Dataset<Row> scores) {
        if (!correction.isBatchNormalized()) {
            return corrected.withColumn("rollout_is_weights", col("corrected.weights"));
        }
        UserDefinedFunction normalizer = udf(
                        (UDF1<Seq<Row>, Double>) RolloutCorrectionStage::normalizer, DataTypes.DoubleType)
                .withName("rollout_is_batch_norm_factor");
        Dataset<Row> rewarded = scores.where(col("reward").isNotNull()).select("trajectory_id");
        Dataset<Row> factor = corrected
                .join(
                        broadcast(rewarded),
                        corrected.col("trajectory_id").equalTo(rewarded.col("trajectory_id")),
                        "left_semi")
                .agg(sort_array(collect_list(struct(
                                col("trajectory_id"),
                                col("segment_index"),
                                col("corrected.sum"),
                                col("corrected.count"))))
                        .as("parts"))
                .select(normalizer.apply(col("parts")).as("factor"));
        return corrected
                .crossJoin(broadcast(factor))
                .withColumn("rollout_is_weights", expr("transform(corrected.weights, w -> CAST(w / factor AS FLOAT))"))
                .drop("factor");
    }

    private static double normalizer(Seq<Row> parts) {
        double sum = 0;
        long count = 0;
        for (int i = 0; i < parts.size(); i++) {
            sum += parts.apply(i).getDouble(2);
            count += parts.apply(i).getLong(3);
        }
        return RolloutCorrection.normalizer(sum, count);
    }

    private Row correct(Seq<Float> logProbs, Seq<Float> rolloutLogProbs, Seq<Integer> mask) {
        Correction corrected = correctRow(doubles(logProbs), doubles(rolloutLogProbs), mask);
        List<Integer> kept = new ArrayList<>();
        List<Float> weights = new ArrayList<>();
        for (int t = 0; t < mask.size(); t++) {
            kept.add(corrected.mask()[t] ? 1 : 0);
            if (correction.hasWeights()) {
                weights.add((float) corrected.weights()[t]);
            }
        }
        return RowFactory.create(
                kept.toArray(),
                correction.hasWeights() ? weights.toArray() : null,
                corrected.sumOfWeights(),
                corrected.countOfWeights());
    }

    private Correction correctRow(double[] logProbs, double[] rolloutLogProbs, Seq<Integer> mask) {
        boolean[] sampled = new boolean[mask.size()];
        for (int t = 0; t < sampled.length; t++) {
            sampled[t] = mask.apply(t) == 1;
        }
        return correction.correctPart(Sequences.of(new int[] {0, sampled.length}, sampled), logProbs, rolloutLogProbs);
    }

    private static double[] doubles(Seq<Float> values) {
        double[] doubles = new double[values.size()];
        for (int t = 0; t < doubles.length; t++) {
            doubles[t] = values.apply(t);
        }
        return doubles;
    }

    /**
     * Computes the metrics of the correction, under verl's names with the prefix {@code rollout_corr/}. Rows without a reward are absent.
     *
     * @param trajectories rows of {@link io.bellows.trajectory.Table#TRAJECTORIES}
     * @param experience rows of {@link io.bellows.trajectory.Table#EXPERIENCE}
     */
    public Metrics metrics(Dataset<Row> trajectories, Dataset<Row> experience) {
        Dataset<Row> rows = experience
                .where(col("reward").isNotNull())
                .select("group_id", "sample_index", "trajectory_id", "segment_index", "old_log_probs")
                .join(
                        trajectories.select("trajectory_id", "segment_index", "rollout_log_probs", "response_mask"),
                        scala.jdk.javaapi.CollectionConverters.asScala(List.of("trajectory_id", "segment_index"))
                                .toSeq(),
                        "inner")
                .repartition(METRIC_PARTITIONS, col("group_id"))
                .sortWithinPartitions("group_id", "sample_index", "segment_index");
        Metrics metrics = Metrics.empty();
        for (Metrics part : rows.javaRDD()
                .mapPartitions((FlatMapFunction<Iterator<Row>, Metrics>) this::merged)
                .collect()) {
            metrics = metrics.merge(part);
        }
        return metrics;
    }

    private Iterator<Metrics> merged(Iterator<Row> rows) {
        Metrics metrics = Metrics.empty();
        while (rows.hasNext()) {
            Row row = rows.next();
            metrics = metrics.merge(correctRow(
                            doubles(row.getAs("old_log_probs")),
                            doubles(row.getAs("rollout_log_probs")),
                            row.getAs("response_mask"))
                    .metrics());
        }
        return List.of(metrics).iterator();
    }
}
