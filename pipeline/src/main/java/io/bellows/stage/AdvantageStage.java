package io.bellows.stage;

import static org.apache.spark.sql.functions.array;
import static org.apache.spark.sql.functions.array_contains;
import static org.apache.spark.sql.functions.arrays_zip;
import static org.apache.spark.sql.functions.broadcast;
import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.collect_list;
import static org.apache.spark.sql.functions.explode;
import static org.apache.spark.sql.functions.expr;
import static org.apache.spark.sql.functions.forall;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.max;
import static org.apache.spark.sql.functions.sort_array;
import static org.apache.spark.sql.functions.struct;
import static org.apache.spark.sql.functions.sum;
import static org.apache.spark.sql.functions.transform;
import static org.apache.spark.sql.functions.when;
import static org.apache.spark.sql.functions.zip_with;

import io.bellows.config.AlgorithmConfig;
import io.bellows.trajectory.Schemas;
import io.bellows.trajectory.Table;
import io.bellows.trajectory.TrajectoryKey;
import io.bellows.udfs.advantage.AdvantageEstimator;
import io.bellows.udfs.advantage.BatchNormalization;
import io.bellows.udfs.loss.KlPenalty;
import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.expressions.Window;
import org.apache.spark.sql.expressions.WindowSpec;

/**
 * Log-probs and scores in, experience out: the reward of a trajectory becomes rewards of its tokens, these become advantages within
 * the group of samples of one prompt, and the advantages of the batch are normalized where the estimator asks for it.
 *
 * <p>A trajectory in segments is one sample, its segments' tokens one after the other: a group counts it once, its reward sits on its
 * last sampled token, and every segment has the advantages of its own tokens.
 *
 * @param estimator how much better than expected a token turned out
 * @param rewardKeys the rewards that the estimator sees one by one, empty for most
 * @param klPenalty the divergence from the reference policy that is subtracted from the reward, or null for none
 */
public record AdvantageStage(AdvantageEstimator estimator, List<String> rewardKeys, KlPenalty klPenalty)
        implements Serializable {

    private static final List<String> GROUP = List.of("run_id", "iteration", "group_id");
    private static final List<String> ORDER = List.of("sample_index", "segment_index");
    private static final WindowSpec TRAJECTORY = Window.partitionBy("run_id", "iteration", "group_id", "sample_index")
            .orderBy("segment_index") // so that sums do not depend on partitions
            .rowsBetween(Window.unboundedPreceding(), Window.unboundedFollowing());

    /** The stage that a configuration describes. */
    public static AdvantageStage of(AlgorithmConfig algorithm) {
        return new AdvantageStage(
                algorithm.estimator(),
                algorithm.gdpoRewardKeys(),
                algorithm.useKlInReward() ? KlPenalty.of(algorithm.klPenalty()) : null);
    }

    /**
     * Describes the transformation. An estimator that normalizes over the batch reads {@code logProbs} twice: persist them, or
     * the models run twice.
     *
     * @param logProbs what {@link RolloutCorrectionStage} returned
     * @param scores rows of {@link Table#SCORES}
     * @param klCoef weight of the divergence in the reward, without effect where there is none
     * @return rows of {@link Table#EXPERIENCE}
     */
    public Dataset<Row> run(Dataset<Row> logProbs, Dataset<Row> scores, double klCoef) {
        Dataset<Row> scored = logProbs.join(broadcast(rewards(scores)), "trajectory_id");
        return normalized(estimated(rewarded(scored, klCoef))).select(experience());
    }

    /** The greedy response of a group, where one was sampled, is what its samples are compared with; it is no row of its own. */
    private Dataset<Row> rewards(Dataset<Row> scores) {
        Column byKey = array(
                rewardKeys.stream().map(key -> col("rewards").getItem(key)).toArray(Column[]::new));
        Column complete = rewardKeys.isEmpty() ? lit(true) : forall(byKey, reward -> reward.isNotNull());
        Column greedy = when(col("sample_index").equalTo(TrajectoryKey.GREEDY_BASELINE), col("reward"));
        Column baseline = estimator.inputs().contains(AdvantageEstimator.Input.BASELINE)
                ? max(greedy).over(Window.partitionBy("group_id"))
                : lit(null).cast("double"); // nobody reads it, and it would cost a shuffle
        return scores.withColumn("reward", when(complete, col("reward"))) // a row that lacks a reward is absent
                .withColumn("rewards", byKey.cast("array<double>"))
                .withColumn("baseline", baseline)
                .select(
                        "run_id",
                        "iteration",
                        "group_id",
                        "sample_index",
                        "trajectory_id",
                        "reward",
                        "baseline",
                        "rewards");
    }

    /**
     * The reward sits on the last sampled token, the penalty of the divergence on every sampled one; the score is their sum. A
     * trajectory with an empty response has a score and no token; one of which rollout correction left nothing has no score.
     */
    private Dataset<Row> rewarded(Dataset<Row> scored, double klCoef) {
        Column divergence = klPenalty == null
                ? expr("array_repeat(0D, size(response_mask))")
                : zip_with(
                        col("old_log_probs"),
                        col("ref_log_probs"),
                        (logProb, refLogProb) -> KlExpressions.value(klPenalty, logProb, refLogProb));
        return scored.repartition(
                        GROUP.stream().map(name -> col(name)).toArray(Column[]::new)) // once, for all that follows
                .withColumn("divergence", divergence)
                .withColumn(
                        "penalty",
                        zip_with(
                                col("divergence"),
                                col("response_mask"),
                                (d, m) -> when(m.equalTo(1), d.multiply(klCoef)).otherwise(0.0)))
                .withColumn(
                        "last_segment",
                        max(when(array_contains(col("response_mask"), 1), col("segment_index")))
                                .over(TRAJECTORY))
                .withColumn(
                        "penalties",
                        sum(expr("aggregate(penalty, 0D, (sum, p) -> sum + p)")).over(TRAJECTORY))
                .withColumn(
                        "rejected",
                        max("rejected").over(TRAJECTORY).and(col("last_segment").isNull()))
                .withColumn("score", expr("IF(rejected, NULL, reward - penalties)"))
                .withColumn(
                        "last",
                        expr("IF(segment_index = last_segment,"
                                + " size(response_mask) - array_position(reverse(response_mask), 1), -1)"))
                .withColumn(
                        "token_level_rewards",
                        expr("transform(penalty, (p, t) -> IF(t = last AND reward IS NOT NULL, reward, 0D) - p)"))
                .drop("divergence", "penalty", "penalties", "last_segment", "last");
    }

    /** Members of a group are sorted, so that sums do not depend on partitions. */
    private Dataset<Row> estimated(Dataset<Row> rewarded) {
        GroupEstimates estimates = new GroupEstimates(estimator);
        Stream<String> carried =
                Arrays.stream(rewarded.columns()).filter(name -> !GROUP.contains(name) && !ORDER.contains(name));
        Column member = struct(
                Stream.concat(ORDER.stream(), carried).map(name -> col(name)).toArray(Column[]::new));
        Column inputs = transform(
                col("members"),
                row -> struct(estimates.inputs().stream()
                        .map(name -> row.getField(name).as(name))
                        .toArray(Column[]::new)));
        return rewarded.groupBy("run_id", "iteration", "group_id")
                .agg(sort_array(collect_list(member)).as("members"))
                .withColumn("estimates", estimates.of(inputs))
                .withColumn("pair", explode(arrays_zip(col("members"), col("estimates"))))
                .select("run_id", "iteration", "group_id", "pair.members.*", "pair.estimates.*");
    }

    /** What the whole batch tells is gathered in the order of the keys, so that its sums do not depend on partitions either. */
    private Dataset<Row> normalized(Dataset<Row> estimated) {
        if (estimator.batchNormalization() == BatchNormalization.NONE) {
            return estimated;
        }
        Column member = struct("group_id", "sample_index", "segment_index", "moments", "score");
        Dataset<Row> step = estimated
                .where("moments IS NOT NULL")
                .agg(sort_array(collect_list(member)).as("members"))
                .select(new BatchRescaling(estimator.batchNormalization())
                        .of(col("members"))
                        .as("step"));
        return estimated
                .crossJoin(broadcast(step))
                .withColumn(
                        "advantages",
                        expr("zip_with(advantages, response_mask, (a, m) -> "
                                + "IF(m = 1 AND moments IS NOT NULL, (a - step.shift) * step.scale, 0D))"))
                .withColumn("returns", col(estimator.returnsAreAdvantages() ? "advantages" : "returns"));
    }

    private static Column[] experience() {
        return Arrays.stream(Schemas.struct(Table.EXPERIENCE).fieldNames())
                .map(name -> switch (name) {
                    case "token_level_rewards", "advantages", "returns" ->
                        col(name).cast("array<float>").as(name);
                    default -> col(name);
                })
                .toArray(Column[]::new);
    }
}
