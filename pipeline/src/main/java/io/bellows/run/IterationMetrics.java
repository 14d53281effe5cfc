package io.bellows.run;

import static org.apache.spark.sql.functions.avg;
import static org.apache.spark.sql.functions.coalesce;
import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.expr;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.max;
import static org.apache.spark.sql.functions.min;
import static org.apache.spark.sql.functions.stddev_samp;
import static org.apache.spark.sql.functions.sum;
import static org.apache.spark.sql.functions.when;

import io.bellows.trajectory.TrajectoryKey;
import io.bellows.udfs.advantage.BatchNormalization;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import scala.jdk.javaapi.CollectionConverters;

/** Metrics of an iteration that its committed tables tell, under verl's names. */
final class IterationMetrics {

    private IterationMetrics() {}

    /** What the iteration sampled: scores, lengths and failures. */
    static Map<String, Double> sampled(Dataset<Row> allTrajectories, Dataset<Row> allScores) {
        Column sampled = col("sample_index").notEqual(TrajectoryKey.GREEDY_BASELINE);
        Dataset<Row> trajectories = allTrajectories.where(sampled);
        Dataset<Row> scores = allScores.where(sampled);
        Map<String, Double> metrics = new LinkedHashMap<>();
        putAll(metrics, groups(scores), rewards());
        putAll(metrics, wholeTrajectories(trajectories), lengths());
        return metrics;
    }

    /** One row for each trajectory, whose segments each have a prompt of their own; that of the first is the given one. */
    private static Dataset<Row> wholeTrajectories(Dataset<Row> segments) {
        return segments.groupBy("trajectory_id")
                .agg(
                        max("status").as("status"), // the same in all segments
                        sum(expr("aggregate(response_mask, 0, (n, m) -> n + m)"))
                                .as("response"), // not what tools said
                        expr("min_by(size(prompt_ids), segment_index)").as("prompt"),
                        max(expr("metrics['num_turns']")).as("num_turns"), // of the whole trajectory, in every segment
                        max(expr("metrics['num_segments']")).as("num_segments"),
                        max(expr("metrics['tool_calls']")).as("tool_calls"),
                        max(expr("metrics['tool_calls_succeeded']")).as("tool_calls_succeeded"),
                        sum(expr("size(prompt_ids) + size(response_ids)")).as("tokens"));
    }

    /** What a person should know about metrics that look like a mistake in the rewards, or nothing. */
    static Optional<String> warning(int iteration, Map<String, Double> metrics) {
        Double least = metrics.get("critic/score/min");
        boolean same = least != null && least.equals(metrics.get("critic/score/max"));
        return same
                ? Optional.of("All rewards of iteration " + iteration + " are " + least
                        + ", so that nothing is learned from it."
                        + " If that goes on, look at reward.functions and at what is answered: bellows sql RUN"
                        + " \"SELECT completion, ground_truth FROM trajectories\"")
                : Optional.empty();
    }

    private static List<Column> lengths() {
        List<Column> lengths = new ArrayList<>();
        addRange(lengths, "response_length", col("response"));
        addRange(lengths, "response_length_non_aborted", when(col("status").notEqual("failed"), col("response")));
        lengths.add(share(col("status").equalTo("truncated"), "response_length/clip_ratio"));
        addRange(lengths, "prompt_length", col("prompt"));
        lengths.add(share(col("status").equalTo("failed"), "response/aborted_ratio"));
        addRange(lengths, "num_turns", col("num_turns"));
        addRange(lengths, "num_segments", col("num_segments"));
        // Without a call anywhere there is nothing to say; else a trajectory without one counts as 0.
        Column calls = coalesce(col("tool_calls"), lit(0.0));
        Column succeeded = coalesce(col("tool_calls_succeeded"), lit(0.0));
        Column anyCalls = count(col("tool_calls")).gt(0);
        lengths.add(when(anyCalls, avg(calls)).as("tool_call_counts/mean"));
        lengths.add(when(anyCalls, max(calls)).as("tool_call_counts/max"));
        lengths.add(when(anyCalls, min(calls)).as("tool_call_counts/min"));
        lengths.add(when(anyCalls, sum(succeeded).divide(sum(calls))).as("tool_calls/success_rate"));
        lengths.add(sum("tokens").cast("double").as("perf/total_num_tokens"));
        lengths.add(sum("response").cast("double").as("perf/response_tokens"));
        return lengths;
    }

    /**
     * What the update learned from: rewards of trajectories that have one, and the numbers of their sampled tokens. What rollout correction
     * rejected has no reward and no advantage; it has values and probabilities.
     *
     * @param trajectories all that the update reads, with groups that an earlier iteration left over
     * @param normalization how the advantages of the batch were normalized
     */
    static Map<String, Double> learned(
            Dataset<Row> trajectories, Dataset<Row> experience, BatchNormalization normalization) {
        Map<String, Double> metrics = new LinkedHashMap<>();
        Dataset<Row> rows = experience
                .where(col("reward").isNotNull())
                .join(
                        trajectories.select("trajectory_id", "segment_index", "response_mask", "rollout_log_probs"),
                        CollectionConverters.asScala(List.of("trajectory_id", "segment_index"))
                                .toSeq(),
                        "inner")
                .withColumn("kept_mask", coalesce(col("corrected_mask"), col("response_mask")));
        List<Column> rewards = new ArrayList<>();
        addRange(rewards, "critic/rewards", col("reward"));
        putAll(metrics, rewardsWithDivergence(rows), rewards);
        // Zipping with a null array gives null: without a critic there would be no token at all.
        Column values = coalesce(col("values"), expr("CAST(array() AS ARRAY<FLOAT>)"));
        Dataset<Row> tokens = rows.withColumn("values", values)
                .select(
                        expr(
                                "inline(arrays_zip(response_mask, kept_mask, advantages, returns, values, old_log_probs, rollout_log_probs))"))
                .where("response_mask = 1");
        List<Column> numbers = new ArrayList<>();
        addRange(numbers, "critic/advantages", when(col("kept_mask").equalTo(1), col("advantages")));
        addRange(numbers, "critic/returns", when(col("kept_mask").equalTo(1), col("returns")));
        addRange(numbers, "critic/values", col("values"));
        numbers.addAll(differencesOfProbabilities());
        if (normalization == BatchNormalization.WHITEN) {
            numbers.add(expr("IF(count_if(kept_mask = 1) < 2, 1D, 0D)").as("critic/unwhitened_batches"));
        }
        putAll(metrics, tokens, numbers);
        return metrics;
    }

    /** The reward of each trajectory less the divergence that is in it; that of an empty response sits on no token. */
    private static Dataset<Row> rewardsWithDivergence(Dataset<Row> segments) {
        return segments.groupBy("trajectory_id")
                .agg(
                        max("reward").as("scored"),
                        max(expr("array_contains(response_mask, 1)")).as("sampled"),
                        max(expr("array_contains(kept_mask, 1)")).as("kept"),
                        sum(expr("aggregate(token_level_rewards, 0D, (s, r) -> s + r)"))
                                .as("on_tokens"))
                .where("kept OR NOT sampled")
                .select(expr("IF(sampled, on_tokens, scored) AS reward"));
    }

    /** How far the probabilities that the engine recorded are from those that the policy gives the same tokens. */
    private static List<Column> differencesOfProbabilities() {
        Column difference = expr("abs(exp(old_log_probs) - exp(rollout_log_probs))");
        return List.of(
                max(difference).as("training/rollout_probs_diff_max"),
                avg(difference).as("training/rollout_probs_diff_mean"),
                stddev_samp(difference).as("training/rollout_probs_diff_std"),
                expr("nanvl(corr(exp(old_log_probs), exp(rollout_log_probs)), NULL)")
                        .as("training/rollout_actor_probs_pearson_corr"));
    }

    private static Dataset<Row> groups(Dataset<Row> scores) {
        return scores.groupBy("group_id")
                .agg(
                        count(lit(1)).as("all"),
                        count(when(col("status").equalTo("failed"), 1)).as("failed"),
                        count(col("reward")).as("valid"),
                        sum("reward").as("total"),
                        max("reward").as("best"),
                        min("reward").as("worst"));
    }

    /** Rewards, and the groups that teach nothing: all their rewards equal, or one valid reward alone. */
    private static List<Column> rewards() {
        return List.of(
                sum("total").divide(sum("valid")).as("critic/score/mean"),
                max("best").as("critic/score/max"),
                min("worst").as("critic/score/min"),
                sum("failed").divide(sum("all")).as("training/reward_failure_rate"),
                expr("count_if(valid = 1)").cast("double").as("critic/singleton_groups"),
                expr("count_if(valid > 1 AND best = worst)").cast("double").as("critic/uniform_groups"));
    }

    private static void addRange(List<Column> columns, String name, Column value) {
        columns.add(avg(value).as(name + "/mean"));
        columns.add(max(value).cast("double").as(name + "/max"));
        columns.add(min(value).cast("double").as(name + "/min"));
    }

    private static Column share(Column condition, String name) {
        return avg(when(condition, lit(1.0)).otherwise(lit(0.0))).as(name);
    }

    private static void putAll(Map<String, Double> metrics, Dataset<Row> rows, List<Column> columns) {
        Row row = rows.agg(columns.get(0), columns.subList(1, columns.size()).toArray(Column[]::new))
                .head();
        for (int i = 0; i < row.size(); i++) {
            if (!row.isNullAt(i)) {
                metrics.put(row.schema().fieldNames()[i], row.getDouble(i));
            }
        }
    }
}
