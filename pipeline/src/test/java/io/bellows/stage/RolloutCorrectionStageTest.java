package io.bellows.stage;

import static org.apache.spark.sql.functions.expr;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.bellows.SparkTest;
import io.bellows.udfs.correction.ImportanceWeighting;
import io.bellows.udfs.correction.RejectionRule;
import io.bellows.udfs.correction.RolloutCorrection;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;

class RolloutCorrectionStageTest extends SparkTest {

    private static final ArrayType FLOATS = DataTypes.createArrayType(DataTypes.FloatType, false);
    private static final float DOUBLED = (float) Math.log(2);
    private static final float HALVED = (float) Math.log(0.5);

    /** One trajectory near its policy, with a tool's token, and one that is far from it. */
    private static Dataset<Row> logProbs() {
        StructType schema = new StructType()
                .add("group_id", DataTypes.StringType, false)
                .add("sample_index", DataTypes.IntegerType, false)
                .add("reward", DataTypes.DoubleType, true)
                .add("trajectory_id", DataTypes.StringType, false)
                .add("segment_index", DataTypes.IntegerType, false)
                .add("response_mask", DataTypes.createArrayType(DataTypes.IntegerType, false), false)
                .add("rollout_log_probs", FLOATS, false)
                .add("old_log_probs", FLOATS, false);
        return spark.createDataFrame(
                List.of(
                        RowFactory.create(
                                "g", 0, 1.0, "a", 0, new int[] {1, 0, 1}, new float[3], new float[] {HALVED, -9, 0}),
                        RowFactory.create("g", 1, 0.0, "b", 0, new int[] {1}, new float[1], new float[] {3 * DOUBLED})),
                schema);
    }

    private static List<Row> run(RolloutCorrection correction) {
        return new RolloutCorrectionStage(correction)
                .run(logProbs(), logProbs())
                .orderBy("trajectory_id")
                .collectAsList();
    }

    @Test
    void weightsAreBoundedAndStandAtSampledTokens() {
        List<Row> rows = run(RolloutCorrection.NONE.withWeights(ImportanceWeighting.of("token", "2.0")));

        assertThat(rows.get(0).<Float>getList(rows.get(0).fieldIndex("rollout_is_weights")))
                .containsExactly(0.5f, 0f, 1f);
        assertThat(rows.get(1).<Float>getList(rows.get(1).fieldIndex("rollout_is_weights")))
                .containsExactly(2f);
        assertThat(rows).allSatisfy(row -> {
            assertThat(row.isNullAt(row.fieldIndex("corrected_mask"))).isTrue();
            assertThat((boolean) row.getAs("rejected")).isFalse();
        });
    }

    @Test
    void weightsOfABatchAreDividedByTheirMeanOverAllItsTokens() {
        List<Row> rows = run(RolloutCorrection.NONE
                .withWeights(ImportanceWeighting.of("token", "3.0"))
                .withBatchNormalization());

        // 0.5, 1 and 3.
        assertThat(rows.get(0)
                        .<Float>getList(rows.get(0).fieldIndex("rollout_is_weights"))
                        .get(0))
                .isCloseTo(1 / 3f, within(1e-6f));
        assertThat(rows.get(1)
                        .<Float>getList(rows.get(1).fieldIndex("rollout_is_weights"))
                        .get(0))
                .isCloseTo(2f, within(1e-6f));
    }

    @Test
    void aTrajectoryWithoutARewardChangesNobodysWeights() {
        Dataset<Row> unscored = logProbs().withColumn("reward", expr("IF(trajectory_id = 'b', NULL, reward)"));
        List<Row> rows = new RolloutCorrectionStage(RolloutCorrection.NONE
                        .withWeights(ImportanceWeighting.of("token", "3.0"))
                        .withBatchNormalization())
                .run(logProbs(), unscored)
                .orderBy("trajectory_id")
                .collectAsList();

        // 0.5 and 1, whose mean is 0.75.
        assertThat(rows.get(0)
                        .<Float>getList(rows.get(0).fieldIndex("rollout_is_weights"))
                        .get(0))
                .isCloseTo(2 / 3f, within(1e-6f));
    }

    @Test
    void whatIsTooFarOffLosesItsPlaceAndARowWithoutAnyIsRejected() {
        List<Row> rows = run(RolloutCorrection.NONE.withRejection(RejectionRule.parse("token_k1", "0.6_4")));

        // Bounds of exp(−log-ratio): 2 and 1 stay, 1/8 does not.
        assertThat(rows.get(0).<Integer>getList(rows.get(0).fieldIndex("corrected_mask")))
                .containsExactly(1, 0, 1);
        assertThat(rows.get(1).<Integer>getList(rows.get(1).fieldIndex("response_mask")))
                .containsExactly(0);
        assertThat((boolean) rows.get(0).getAs("rejected")).isFalse();
        assertThat((boolean) rows.get(1).getAs("rejected")).isTrue();
        assertThat(rows.get(0).isNullAt(rows.get(0).fieldIndex("rollout_is_weights")))
                .isTrue();
    }

    @Test
    void withoutACorrectionRowsStayAsTheyAre() {
        Row row = run(RolloutCorrection.NONE).get(0);

        assertThat(row.<Integer>getList(row.fieldIndex("response_mask"))).containsExactly(1, 0, 1);
        assertThat(row.isNullAt(row.fieldIndex("corrected_mask"))).isTrue();
        assertThat(row.isNullAt(row.fieldIndex("rollout_is_weights"))).isTrue();
    }

    @Test
    void metricsAreThoseOfTheWholeBatch() {
        RolloutCorrectionStage stage = new RolloutCorrectionStage(RolloutCorrection.NONE
                .withWeights(ImportanceWeighting.of("token", "2.0"))
                .withRejection(RejectionRule.parse("token_k1", "0.6_4")));

        Map<String, Double> metrics =
                stage.metrics(logProbs().drop("reward"), logProbs()).values();

        assertThat(metrics.get("rollout_corr/rollout_is_mean")).isCloseTo((0.5 + 1 + 8) / 3, within(1e-5));
        assertThat(metrics.get("rollout_corr/rollout_rs_masked_fraction")).isCloseTo(1 / 3.0, within(1e-12));
        assertThat(metrics.get("rollout_corr/kl")).isCloseTo(-2 * Math.log(2) / 3, within(1e-6));
    }
}
