package io.bellows.stage;

import static org.apache.spark.sql.functions.expr;
import static org.assertj.core.api.Assertions.assertThat;

import io.bellows.SparkTest;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Test;

/** Which rows a step sees and in which order is the same for any number of ranks. */
class UpdatePlanTest extends SparkTest {

    private static final List<String> EXPERIENCE = List.of(
            "old_log_probs",
            "ref_log_probs",
            "advantages",
            "values",
            "returns",
            "rollout_is_weights",
            "corrected_mask");

    @Test
    void placesDoNotDependOnRanksAndARankHasWholeGroups() {
        List<Row> alone = plan(1);
        List<Row> shared = plan(3);

        assertThat(alone)
                .hasSize(2 * 39)
                .allSatisfy(row -> assertThat(row.getInt(4)).isZero());
        assertThat(shared.stream().map(UpdatePlanTest::withoutRank).toList())
                .isEqualTo(alone.stream().map(UpdatePlanTest::withoutRank).toList());
        assertThat(shared.stream()
                        .map(row -> row.getInt(0) + " " + row.getString(1))
                        .distinct())
                .as("group and mini-batch")
                .hasSize(2 * 10);
        assertThat(shared.stream()
                        .map(row -> row.getInt(0) + " " + row.getString(1) + " " + row.getInt(4))
                        .distinct())
                .as("ranks of a group in a mini-batch")
                .hasSize(2 * 10);
        assertThat(shared.stream()
                        .map(row -> row.getInt(0) + " " + row.getInt(4))
                        .distinct())
                .as("ranks with rows in the four steps")
                .hasSize(4 * 3);
    }

    private static String withoutRank(Row row) {
        return row.getInt(0) + " " + row.getInt(2) + " " + row.getString(3);
    }

    /** Mini-batch, group, place, trajectory, rank of each row, in order: 10 groups with 4 samples, one of which has no reward. */
    private static List<Row> plan(int ranks) {
        Dataset<Row> rows = spark.range(40)
                .selectExpr(
                        "concat('run/1/', id div 4) AS group_id",
                        "id div 4 AS position",
                        "cast(id % 4 AS int) AS sample_index")
                .withColumn("trajectory_id", expr("concat(group_id, '/', sample_index)"))
                .withColumn("segment_index", expr("0"));
        Dataset<Row> trajectories = rows.withColumn(
                        "prompt_ids", expr("transform(sequence(1, 30), t -> cast(position AS int))"))
                .withColumn("response_ids", expr("sequence(1, 5 + sample_index)"))
                .withColumn("response_mask", expr("response_ids"));
        Dataset<Row> experience = rows.withColumn("reward", expr("IF(trajectory_id = 'run/1/7/2', NULL, 1.0)"));
        for (String name : EXPERIENCE) {
            experience = experience.withColumn(name, expr("array(0.0)"));
        }
        return new UpdatePlan(5, 2, 17)
                .rows(trajectories, experience, 1, ranks)
                .selectExpr(
                        "mini_batch", "regexp_replace(trajectory_id, '/[0-9]+$', '')", "place", "trajectory_id", "rank")
                .orderBy("mini_batch", "place")
                .collectAsList();
    }
}
