package io.bellows.data;

import java.util.HashSet;
import java.util.Set;
import org.apache.spark.api.java.JavaRDD;
import scala.Tuple2;

/**
 * How often a dataset says the same.
 *
 * @param rows number of rows
 * @param prompts number of different prompts
 * @param pairs number of different pairs of prompt and ground truth
 * @param withoutGroundTruth rows without a ground truth
 */
record Repeats(long rows, long prompts, long pairs, long withoutGroundTruth) {

    static Repeats of(JavaRDD<PromptRow> rows) {
        long[] totals = rows.mapToPair(row -> new Tuple2<>(row.promptHash(), row.groundTruth()))
                .groupByKey()
                .values()
                .map(Repeats::ofOnePrompt)
                .fold(new long[4], Repeats::sum);
        return new Repeats(totals[0], totals[1], totals[2], totals[3]);
    }

    // Arrays between executors, not records: Kryo cannot read those.
    private static long[] ofOnePrompt(Iterable<String> truths) {
        Set<String> different = new HashSet<>();
        long rows = 0;
        long without = 0;
        for (String truth : truths) {
            rows++;
            without += truth == null ? 1 : 0;
            different.add(truth);
        }
        return new long[] {rows, 1, different.size(), without};
    }

    private static long[] sum(long[] a, long[] b) {
        long[] sum = new long[a.length];
        for (int i = 0; i < a.length; i++) {
            sum[i] = a[i] + b[i];
        }
        return sum;
    }
}
