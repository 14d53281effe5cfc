package io.bellows.run;

import static org.apache.spark.sql.functions.col;

import io.bellows.trajectory.TrajectoryKey;
import io.bellows.udfs.advantage.GroupStatistics;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * Tells the groups that teach something, whose samples differ in reward, from those that do not (dynamic sampling of DAPO, Yu
 * et al., arXiv 2503.14476).
 *
 * @param metric column of {@link io.bellows.trajectory.Table#SCORES} that tells samples apart
 */
record GroupFilter(Column metric) {

    /**
     * The filter of a configuration.
     *
     * @param name verl's {@code algorithm.filter_groups.metric}: {@code acc} for the first reward function, which is the
     *     raw reward of the task, {@code score} for the weighted sum with any shaping in it, or the name of a reward function
     * @param firstFunction the name of the first reward function
     */
    static GroupFilter of(String name, String firstFunction) {
        return new GroupFilter(
                switch (name) {
                    case "score" -> col("reward");
                    case "acc" -> col("rewards").getItem(firstFunction);
                    default -> col("rewards").getItem(name);
                });
    }

    /** Groups whose valid values of the metric are not all equal, in the order of their prompts. */
    List<String> informative(Dataset<Row> scores) {
        List<Row> rows = scores.where(col("sample_index").notEqual(TrajectoryKey.GREEDY_BASELINE))
                .select(col("group_id"), metric, col("sample_index"))
                .collectAsList();
        Map<String, List<Double>> groups = new LinkedHashMap<>();
        for (Row row : rows) {
            groups.computeIfAbsent(row.getString(0), group -> new ArrayList<>())
                    .add(row.isNullAt(1) ? Double.NaN : row.getDouble(1));
        }
        return groups.entrySet().stream()
                .filter(group -> !isUniform(group.getValue()))
                .map(Map.Entry::getKey)
                .sorted(TrajectoryKey.GROUP_ORDER)
                .toList();
    }

    private static boolean isUniform(List<Double> values) {
        return GroupStatistics.of(
                        values.stream().mapToDouble(Double::doubleValue).toArray())
                .isUniform();
    }
}
