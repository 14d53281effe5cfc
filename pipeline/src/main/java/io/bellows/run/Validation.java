package io.bellows.run;

import static org.apache.spark.sql.functions.col;

import io.bellows.data.PromptDataset;
import io.bellows.resident.WeightsRef;
import io.bellows.stage.RolloutStage;
import io.bellows.stage.ScoreStage;
import io.bellows.udfs.statistics.PassAtK;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.storage.StorageLevel;

/**
 * Validation on held-out prompts. A response is right when the first reward function gives it 1 or more.
 *
 * @param prompts the held-out prompts
 * @param greedy one response each, the likeliest
 * @param sampled several responses each, or null when only greedy validation is wanted
 * @param scores gives the rewards
 * @param accuracyComponent the reward function that tells right from wrong
 */
record Validation(
        PromptDataset prompts, RolloutStage greedy, RolloutStage sampled, ScoreStage scores, String accuracyComponent) {

    /** Right and all responses to one prompt. */
    private static final class Tally {
        private int responses;
        private int right;
    }

    /** What a pass over the held-out prompts showed, for one data source. */
    static final class Results {
        private final TreeMap<String, Tally> groups = new TreeMap<>();
        private double rewards;
        private int scored;
        private int responses;
    }

    /** Metrics under verl's names. */
    Map<String, Double> run(int iteration, WeightsRef weights) {
        Map<String, Double> metrics = new LinkedHashMap<>(greedyMetrics(run(greedy, iteration, weights)));
        if (sampled != null) {
            run(sampled, iteration, weights).forEach((source, results) -> addSampled(metrics, source, results));
        }
        return metrics;
    }

    /** Metrics of one greedy pass. */
    static Map<String, Double> greedyMetrics(Map<String, Results> bySource) {
        Map<String, Double> metrics = new LinkedHashMap<>();
        bySource.forEach((source, results) -> {
            metrics.put("val-core/" + source + "/acc/mean@1", accuracy(results));
            if (results.scored > 0) { // no reward is no mean
                metrics.put("val-core/" + source + "/reward/mean@1", results.rewards / results.scored);
            }
        });
        return metrics;
    }

    private void addSampled(Map<String, Double> metrics, String source, Results results) {
        int n = sampled.sampling().n();
        metrics.put("val-aux/" + source + "/acc/sampled_mean@" + n, accuracy(results));
        List<Tally> groups = List.copyOf(results.groups.values());
        int[] responses = groups.stream().mapToInt(tally -> tally.responses).toArray();
        int[] right = groups.stream().mapToInt(tally -> tally.right).toArray();
        for (int k = 2; k <= n; k *= 2) {
            metrics.put("val-aux/" + source + "/acc/pass@" + k, PassAtK.mean(responses, right, k));
        }
    }

    private static double accuracy(Results results) {
        return results.groups.values().stream().mapToInt(tally -> tally.right).sum() / (double) results.responses;
    }

    private TreeMap<String, Results> run(RolloutStage rollout, int iteration, WeightsRef weights) {
        Dataset<Row> rows =
                prompts.rows().withColumn("position", col("row_index").cast("int"));
        // Persisted, so that nothing generates twice, and scored from rows as the schema gives them.
        Dataset<Row> responses = rollout.run(rows, iteration, weights).persist(StorageLevel.MEMORY_AND_DISK());
        try {
            return tally(scores.run(responses), accuracyComponent);
        } finally {
            responses.unpersist();
        }
    }

    /** What the rows of {@link io.bellows.trajectory.Table#SCORES} show, by data source. */
    static TreeMap<String, Results> tally(Dataset<Row> scores, String accuracyComponent) {
        List<Row> scored = scores.select(
                        col("data_source"),
                        col("group_id"),
                        col("reward"),
                        col("rewards").getItem(accuracyComponent).as("accuracy"))
                .collectAsList();
        TreeMap<String, Results> bySource = new TreeMap<>();
        for (Row row : scored) {
            Results results = bySource.computeIfAbsent(row.getString(0), source -> new Results());
            Tally tally = results.groups.computeIfAbsent(row.getString(1), group -> new Tally());
            tally.responses++;
            results.responses++;
            tally.right += !row.isNullAt(3) && row.getDouble(3) >= 1 ? 1 : 0;
            if (!row.isNullAt(2)) {
                results.scored++;
                results.rewards += row.getDouble(2);
            }
        }
        return bySource;
    }
}
