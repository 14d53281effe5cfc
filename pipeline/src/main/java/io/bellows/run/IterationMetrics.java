package io.bellows.run;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.expr;
import static org.apache.spark.sql.functions.size;

import io.bellows.trajectory.TrajectoryKey;
import io.bellows.udfs.advantage.BatchNormalization;
import io.bellows.udfs.statistics.JointMoments;
import io.bellows.udfs.statistics.Moments;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.DoubleSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * Metrics of an iteration that its committed tables tell, under verl's names. Spark reduces each row to a few numbers, which are
 * summed here in the order of their keys: a batch of thousands of rows is small, and needs no shuffle.
 */
final class IterationMetrics {

    private IterationMetrics() {}

    /** What the iteration sampled: scores, lengths and failures. */
    static Map<String, Double> sampled(Dataset<Row> trajectories, Dataset<Row> scores) {
        Column sampled = col("sample_index").notEqual(TrajectoryKey.GREEDY_BASELINE);
        Map<String, Double> metrics = new LinkedHashMap<>();
        putRewards(metrics, scored(scores.where(sampled)));
        putLengths(metrics, wholeTrajectories(trajectories.where(sampled)));
        return metrics;
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

    /** A score; the reward is null where there is none. */
    private record Scored(String group, String trajectory, String status, Double reward) {}

    private static List<Scored> scored(Dataset<Row> scores) {
        return scores.select("group_id", "trajectory_id", "status", "reward").collectAsList().stream()
                .map(row -> new Scored(row.getString(0), row.getString(1), row.getString(2), row.getAs(3)))
                .sorted(Comparator.comparing(Scored::trajectory))
                .toList();
    }

    /** Rewards, and the groups that teach nothing: all their rewards equal, or one valid reward alone. */
    private static void putRewards(Map<String, Double> metrics, List<Scored> scores) {
        putRange(metrics, "critic/score", scores, Scored::reward);
        putShare(metrics, "training/reward_failure_rate", scores, score -> score.status.equals("failed"));
        List<DoubleSummaryStatistics> groups = scores.stream()
                .collect(Collectors.groupingBy(Scored::group, TreeMap::new, Collectors.toList()))
                .values()
                .stream()
                .map(group -> statistics(group, Scored::reward))
                .toList();
        metrics.put("critic/singleton_groups", (double)
                groups.stream().filter(group -> group.getCount() == 1).count());
        metrics.put("critic/uniform_groups", (double) groups.stream()
                .filter(group -> group.getCount() > 1 && group.getMin() == group.getMax())
                .count());
    }

    /** A trajectory, whose segments each have a prompt of their own; that of the first is the given one. */
    private record Sampled(
            String status,
            long response,
            long prompt,
            long tokens,
            Double turns,
            Double segments,
            Double toolCalls,
            Double toolCallsSucceeded) {

        static Sampled of(Row segment) {
            return new Sampled(
                    segment.getString(2),
                    segment.getInt(3),
                    segment.getInt(4),
                    segment.getInt(4) + segment.getInt(5),
                    segment.getAs(6),
                    segment.getAs(7),
                    segment.getAs(8),
                    segment.getAs(9));
        }

        /** What is told of the whole trajectory is the same in every segment. */
        Sampled with(Sampled next) {
            return new Sampled(
                    status,
                    response + next.response,
                    prompt,
                    tokens + next.tokens,
                    turns,
                    segments,
                    toolCalls,
                    toolCallsSucceeded);
        }
    }

    private static List<Sampled> wholeTrajectories(Dataset<Row> trajectories) {
        List<Row> segments = new ArrayList<>(trajectories
                .select(
                        col("trajectory_id"),
                        col("segment_index"),
                        col("status"),
                        expr("aggregate(response_mask, 0, (n, m) -> n + m)"), // not what tools said
                        size(col("prompt_ids")),
                        size(col("response_ids")),
                        expr("metrics['num_turns']"),
                        expr("metrics['num_segments']"),
                        expr("metrics['tool_calls']"),
                        expr("metrics['tool_calls_succeeded']"))
                .collectAsList());
        segments.sort(Comparator.comparingInt(row -> row.getInt(1)));
        Map<String, Sampled> whole = new TreeMap<>();
        segments.forEach(row -> whole.merge(row.getString(0), Sampled.of(row), Sampled::with));
        return List.copyOf(whole.values());
    }

    private static void putLengths(Map<String, Double> metrics, List<Sampled> trajectories) {
        putRange(metrics, "response_length", trajectories, row -> (double) row.response);
        putRange(
                metrics,
                "response_length_non_aborted",
                trajectories,
                row -> row.status.equals("failed") ? null : (Double) (double) row.response);
        putShare(metrics, "response_length/clip_ratio", trajectories, row -> row.status.equals("truncated"));
        putRange(metrics, "prompt_length", trajectories, row -> (double) row.prompt);
        putShare(metrics, "response/aborted_ratio", trajectories, row -> row.status.equals("failed"));
        putRange(metrics, "num_turns", trajectories, Sampled::turns);
        putRange(metrics, "num_segments", trajectories, Sampled::segments);
        putToolCalls(metrics, trajectories);
        putSum(metrics, "perf/total_num_tokens", trajectories, Sampled::tokens);
        putSum(metrics, "perf/response_tokens", trajectories, Sampled::response);
    }

    /** Without a call anywhere there is nothing to say; else a trajectory without one counts as 0. */
    private static void putToolCalls(Map<String, Double> metrics, List<Sampled> trajectories) {
        if (trajectories.stream().allMatch(row -> row.toolCalls == null)) {
            return;
        }
        putRange(metrics, "tool_call_counts", trajectories, row -> Objects.requireNonNullElse(row.toolCalls, 0.0));
        double calls = statistics(trajectories, Sampled::toolCalls).getSum();
        if (calls > 0) {
            double succeeded =
                    statistics(trajectories, Sampled::toolCallsSucceeded).getSum();
            metrics.put("tool_calls/success_rate", succeeded / calls);
        }
    }

    /**
     * What the update learned from: rewards of trajectories that have one, and the numbers of their sampled tokens. What rollout correction
     * rejected has no reward and no advantage; it has values and probabilities.
     *
     * @param segments in the order of their keys
     * @param normalization how the advantages of the batch were normalized
     */
    static Map<String, Double> learned(List<LearnedSegment> segments, BatchNormalization normalization) {
        Map<String, Double> metrics = new LinkedHashMap<>();
        putRange(metrics, "critic/rewards", rewardsWithDivergence(segments), Function.identity());
        Moments advantages = merged(segments, LearnedSegment::advantages);
        putMoments(metrics, "critic/advantages", advantages);
        putMoments(metrics, "critic/returns", merged(segments, LearnedSegment::returns));
        putMoments(metrics, "critic/values", merged(segments, LearnedSegment::values));
        putDifferences(metrics, segments);
        if (normalization == BatchNormalization.WHITEN) {
            metrics.put("critic/unwhitened_batches", advantages.count() < 2 ? 1.0 : 0.0);
        }
        return metrics;
    }

    /** The reward of each trajectory less the divergence that is in it; that of an empty response sits on no token. */
    private static List<Double> rewardsWithDivergence(List<LearnedSegment> segments) {
        List<Double> rewards = new ArrayList<>();
        segments.stream()
                .collect(Collectors.groupingBy(LearnedSegment::trajectory, TreeMap::new, Collectors.toList()))
                .forEach((trajectory, parts) -> {
                    boolean sampled = parts.stream().anyMatch(LearnedSegment::sampled);
                    if (!sampled) {
                        rewards.add(parts.get(0).reward());
                    } else if (parts.stream().anyMatch(LearnedSegment::kept)) {
                        rewards.add(parts.stream()
                                .mapToDouble(LearnedSegment::onTokens)
                                .sum());
                    }
                });
        return rewards;
    }

    /** How far the probabilities that the engine recorded are from those that the policy gives the same tokens. */
    private static void putDifferences(Map<String, Double> metrics, List<LearnedSegment> segments) {
        Moments differences = merged(segments, LearnedSegment::differences);
        if (differences.count() > 0) {
            metrics.put("training/rollout_probs_diff_max", differences.max());
            metrics.put("training/rollout_probs_diff_mean", differences.mean());
        }
        if (differences.count() > 1) {
            metrics.put("training/rollout_probs_diff_std", Math.sqrt(differences.variance()));
        }
        double correlation = segments.stream()
                .map(LearnedSegment::probabilities)
                .reduce(JointMoments.NONE, JointMoments::merge)
                .correlation();
        if (!Double.isNaN(correlation)) {
            metrics.put("training/rollout_actor_probs_pearson_corr", correlation);
        }
    }

    private static Moments merged(List<LearnedSegment> segments, Function<LearnedSegment, Moments> moments) {
        return segments.stream().map(moments).reduce(Moments.NONE, Moments::merge);
    }

    private static void putMoments(Map<String, Double> metrics, String name, Moments moments) {
        if (moments.count() > 0) {
            metrics.put(name + "/mean", moments.mean());
            metrics.put(name + "/max", moments.max());
            metrics.put(name + "/min", moments.min());
        }
    }

    /** Nothing where no row has a value. */
    private static <T> void putRange(
            Map<String, Double> metrics, String name, List<T> rows, Function<T, Double> value) {
        DoubleSummaryStatistics statistics = statistics(rows, value);
        if (statistics.getCount() > 0) {
            metrics.put(name + "/mean", statistics.getAverage());
            metrics.put(name + "/max", statistics.getMax());
            metrics.put(name + "/min", statistics.getMin());
        }
    }

    private static <T> void putShare(Map<String, Double> metrics, String name, List<T> rows, Predicate<T> condition) {
        if (!rows.isEmpty()) {
            metrics.put(name, (double) rows.stream().filter(condition).count() / rows.size());
        }
    }

    private static <T> void putSum(Map<String, Double> metrics, String name, List<T> rows, ToDoubleFunction<T> value) {
        if (!rows.isEmpty()) {
            metrics.put(name, rows.stream().mapToDouble(value).sum());
        }
    }

    private static <T> DoubleSummaryStatistics statistics(List<T> rows, Function<T, Double> value) {
        Stream<Double> values = rows.stream().map(value).filter(Objects::nonNull);
        return values.mapToDouble(Double::doubleValue).summaryStatistics();
    }
}
