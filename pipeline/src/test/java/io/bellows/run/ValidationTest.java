package io.bellows.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.bellows.SparkTest;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Test;

class ValidationTest extends SparkTest {

    private static Map<String, Double> metrics(String rows) {
        Dataset<Row> scores = spark.sql("SELECT data_source, group_id, cast(reward AS DOUBLE) AS reward,"
                + " map('exact_match', cast(reward AS DOUBLE)) AS rewards FROM VALUES " + rows
                + " AS scores(data_source, group_id, reward)");
        return Validation.greedyMetrics(Validation.tally(scores, "exact_match"));
    }

    @Test
    void theMeanRewardIsThatOfScoredResponses() {
        assertThat(metrics("('sums', 'a', 1), ('sums', 'b', 0), ('sums', 'c', NULL), ('sums', 'd', NULL)"))
                .containsOnly(
                        Map.entry("val-core/sums/acc/mean@1", 0.25), Map.entry("val-core/sums/reward/mean@1", 0.5));
    }

    @Test
    void whereNothingIsScoredThereIsNoMeanReward() {
        assertThat(metrics("('sums', 'a', 1), ('essays', 'b', NULL)"))
                .containsOnlyKeys(
                        "val-core/sums/acc/mean@1", "val-core/sums/reward/mean@1", "val-core/essays/acc/mean@1");
    }
}
