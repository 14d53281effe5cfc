package io.bellows.stage;

import static org.apache.spark.sql.functions.broadcast;
import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.collect_list;
import static org.apache.spark.sql.functions.explode;
import static org.apache.spark.sql.functions.expr;
import static org.apache.spark.sql.functions.sort_array;
import static org.apache.spark.sql.functions.struct;
import static org.apache.spark.sql.functions.udf;

import io.bellows.trajectory.Schemas;
import io.bellows.trajectory.Table;
import io.bellows.udfs.advantage.GrpoAdvantage;
import io.bellows.udfs.advantage.GrpoAdvantage.Normalization;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.expressions.UserDefinedFunction;
import org.apache.spark.sql.types.DataTypes;
import scala.collection.Seq;

/**
 * Log-probs and scores in, experience out: rewards become advantages within each group of samples of one prompt.
 *
 * @param normalization whether advantages are divided by the group's standard deviation
 */
public record AdvantageStage(Normalization normalization) implements Serializable {

    /**
     * Describes the transformation.
     *
     * @param logProbs what {@link LogProbStage} returned
     * @param scores rows of {@link Table#SCORES}
     * @return rows of {@link Table#EXPERIENCE}
     */
    public Dataset<Row> run(Dataset<Row> logProbs, Dataset<Row> scores) {
        // The scores are small and broadcast: the log-probs are never shuffled, so they are computed once.
        return logProbs.join(broadcast(advantages(scores)), "trajectory_id").select(columns());
    }

    /** One scalar advantage per trajectory; members are sorted, so the sums do not depend on partitions. */
    private Dataset<Row> advantages(Dataset<Row> scores) {
        UserDefinedFunction estimator = udf(
                        (UDF1<Seq<Double>, List<Double>>) this::estimate,
                        DataTypes.createArrayType(DataTypes.DoubleType))
                .withName(normalization == Normalization.BY_STD ? "grpo_advantage" : "dr_grpo_advantage");
        Column member = struct("sample_index", "trajectory_id", "reward");
        return scores.groupBy("run_id", "iteration", "group_id")
                .agg(sort_array(collect_list(member)).as("members"))
                .withColumn("estimates", estimator.apply(col("members.reward")))
                .withColumn("pair", explode(expr("arrays_zip(members, estimates)")))
                .select(
                        col("run_id"),
                        col("iteration"),
                        col("group_id"),
                        col("pair.members.sample_index").as("sample_index"),
                        col("pair.members.trajectory_id").as("trajectory_id"),
                        col("pair.members.reward").as("reward"),
                        col("pair.estimates").as("advantage"));
    }

    private List<Double> estimate(Seq<Double> rewards) {
        double[] values = new double[rewards.size()];
        for (int i = 0; i < values.length; i++) {
            Double reward = rewards.apply(i);
            values[i] = reward == null ? Double.NaN : reward;
        }
        List<Double> estimates = new ArrayList<>();
        for (double advantage : GrpoAdvantage.advantages(values, normalization)) {
            estimates.add(advantage);
        }
        return estimates;
    }

    private static Column[] columns() {
        // The reward sits on the last sampled token; every sampled token carries the advantage of its trajectory.
        Column tokenRewards = expr("transform(response_mask, (m, i) -> CAST(IF(reward IS NOT NULL AND "
                + "i = size(response_mask) - array_position(reverse(response_mask), 1) "
                + "AND m = 1, reward, 0) AS FLOAT))");
        Column tokenAdvantages = expr("transform(response_mask, m -> CAST(IF(m = 1, advantage, 0) AS FLOAT))");
        return Arrays.stream(Schemas.struct(Table.EXPERIENCE).fieldNames())
                .map(name -> switch (name) {
                    case "token_level_rewards" -> tokenRewards.as(name);
                    case "advantages", "returns" -> tokenAdvantages.as(name);
                    default -> col(name);
                })
                .toArray(Column[]::new);
    }
}
