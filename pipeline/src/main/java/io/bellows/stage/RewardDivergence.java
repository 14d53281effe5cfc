package io.bellows.stage;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.expr;
import static org.apache.spark.sql.functions.zip_with;

import io.bellows.udfs.loss.KlPenalty;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import scala.jdk.javaapi.CollectionConverters;

/** How far the policy of an iteration was from the reference, verl's {@code actor/reward_kl_penalty}. */
public final class RewardDivergence {

    private RewardDivergence() {}

    /**
     * The mean, over sequences with a reward, of the mean divergence of their sampled tokens; 0 for a sequence without any. The
     * numbers are summed here in the order of the keys: an adaptive weight follows them, and must not depend on partitions.
     *
     * @param kind the estimator of the divergence
     * @param trajectories rows of {@link io.bellows.trajectory.Table#TRAJECTORIES}
     * @param experience rows of {@link io.bellows.trajectory.Table#EXPERIENCE} with log-probs of the reference
     */
    public static double mean(KlPenalty kind, Dataset<Row> trajectories, Dataset<Row> experience) {
        return experience
                .where("reward IS NOT NULL")
                .join(
                        trajectories.select("trajectory_id", "segment_index", "response_mask"),
                        CollectionConverters.asScala(List.of("trajectory_id", "segment_index"))
                                .toSeq(),
                        "inner")
                .withColumn(
                        "divergence",
                        zip_with(col("old_log_probs"), col("ref_log_probs"), (p, q) -> KlExpressions.value(kind, p, q)))
                .select(
                        col("trajectory_id"),
                        col("segment_index"),
                        expr(
                                "aggregate(zip_with(divergence, response_mask, (d, m) -> IF(m = 1, d, 0D)), 0D, (s, d) -> s + d)"
                                        + " / greatest(1, aggregate(response_mask, 0, (s, m) -> s + m))"))
                .orderBy("trajectory_id", "segment_index")
                .collectAsList()
                .stream()
                .mapToDouble(row -> row.getDouble(2))
                .average()
                .orElse(0);
    }
}
