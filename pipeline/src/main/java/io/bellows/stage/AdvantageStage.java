package io.bellows.stage;

import static org.apache.spark.sql.functions.array;
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
import static org.apache.spark.sql.functions.transform;
import static org.apache.spark.sql.functions.when;

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
    /** What becomes experience as it is, and the mask that normalization reads. */
    private static final List<String> KEPT = List.of(
            "trajectory_id",
            "reward",
            "old_log_probs",
            "ref_log_probs",
            "squared_probabilities",
            "values",
            "rollout_is_weights",
            "corrected_mask",
            "response_mask");

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
        return normalized(estimated(scored, new GroupEstimates(estimator, klPenalty, klCoef)))
                .select(experience());
    }

    /** The greedy response of a group, where one was sampled, is what its samples are compared with; it is no row of its own. */
    private Dataset<Row> rewards(Dataset<Row> scores) {
        Column byKey = array(
                rewardKeys.stream().map(key -> col("rewards").getItem(key)).toArray(Column[]::new));
        Column complete = rewardKeys.isEmpty() ? lit(true) : forall(byKey, reward -> reward.isNotNull());
        Column reward = when(complete, col("reward")); // a row that lacks a reward is absent
        Column greedy = when(col("sample_index").equalTo(TrajectoryKey.GREEDY_BASELINE), reward);
        Column baseline = estimator.inputs().contains(AdvantageEstimator.Input.BASELINE)
                ? max(greedy).over(Window.partitionBy("group_id"))
                : lit(null).cast("double"); // nobody reads it, and it would cost a shuffle
        return scores.select(
                col("run_id"),
                col("iteration"),
                col("group_id"),
                col("sample_index"),
                col("trajectory_id"),
                reward.as("reward"),
                baseline.as("baseline"),
                byKey.cast("array<double>").as("rewards"));
    }

    /** One shuffle brings the members of a group together. They are sorted, so that sums do not depend on partitions. */
    private static Dataset<Row> estimated(Dataset<Row> scored, GroupEstimates estimates) {
        Column member = struct(columns(
                Stream.of(ORDER, KEPT, estimates.inputs()).flatMap(List::stream).distinct()));
        Column inputs = transform(
                col("members"),
                row -> struct(estimates.inputs().stream()
                        .map(name -> row.getField(name).as(name))
                        .toArray(Column[]::new)));
        return scored.groupBy(columns(GROUP.stream()))
                .agg(sort_array(collect_list(member)).as("members"))
                .withColumn("estimates", estimates.of(inputs))
                .withColumn("pair", explode(arrays_zip(col("members"), col("estimates"))))
                .select("run_id", "iteration", "group_id", "pair.members.*", "pair.estimates.*");
    }

    private static Column[] columns(Stream<String> names) {
        return names.map(name -> col(name)).toArray(Column[]::new);
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
