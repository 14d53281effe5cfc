package io.bellows.stage;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.expr;
import static org.apache.spark.sql.functions.zip_with;

import io.bellows.udfs.loss.KlPenalty;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import scala.jdk.javaapi.CollectionConverters;

/** How far the policy of an iteration was from the reference, verl's {@code actor/reward_kl_penalty}. */
public final class RewardDivergence {

    private RewardDivergence() {}

    /**
     * The mean, over trajectories with a reward, of the mean divergence of their sampled tokens; 0 for one without any. The
     * numbers are summed here in the order of the keys: an adaptive weight follows them, and must not depend on partitions.
     *
     * @param kind the estimator of the divergence
     * @param trajectories rows of {@link io.bellows.trajectory.Table#TRAJECTORIES}
     * @param experience rows of {@link io.bellows.trajectory.Table#EXPERIENCE} with log-probs of the reference
     */
    public static double mean(KlPenalty kind, Dataset<Row> trajectories, Dataset<Row> experience) {
        List<Row> segments = experience
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
                        expr(
                                "aggregate(zip_with(divergence, response_mask, (d, m) -> IF(m = 1, d, 0D)), 0D, (s, d) -> s + d)"
                                        + " AS sum"),
                        expr("aggregate(response_mask, 0, (s, m) -> s + m) AS tokens"))
                .orderBy("trajectory_id", "segment_index")
                .collectAsList();
        return ofTrajectories(segments).stream()
                .mapToDouble(Double::doubleValue)
                .average()
                .orElse(0);
    }

    /** Means over the tokens of all segments of each trajectory, which stand one after the other. */
    private static List<Double> ofTrajectories(List<Row> segments) {
        List<Double> means = new ArrayList<>();
        for (int i = 0; i < segments.size(); ) {
            String trajectory = segments.get(i).getString(0);
            double sum = 0;
            long tokens = 0;
            for (; i < segments.size() && segments.get(i).getString(0).equals(trajectory); i++) {
                sum += segments.get(i).getDouble(1);
                tokens += segments.get(i).getInt(2);
            }
            means.add(sum / Math.max(1, tokens));
        }
        return means;
    }
}
