package io.bellows.stage;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.expr;
import static org.apache.spark.sql.functions.zip_with;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.bellows.SparkTest;
import io.bellows.trajectory.Schemas;
import io.bellows.trajectory.Table;
import io.bellows.trajectory.TrajectoryKey;
import io.bellows.udfs.advantage.AdvantageEstimator;
import io.bellows.udfs.advantage.AdvantageRegistry;
import io.bellows.udfs.advantage.Advantages;
import io.bellows.udfs.advantage.GrpoAdvantage.Normalization;
import io.bellows.udfs.advantage.Sample;
import io.bellows.udfs.correction.RejectionRule;
import io.bellows.udfs.correction.RolloutCorrection;
import io.bellows.udfs.loss.KlPenalty;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.storage.StorageLevel;
import org.apache.spark.util.LongAccumulator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The transformation of tables says what the estimators say on arrays. */
class AdvantageStageTest extends SparkTest {

    private static final int GROUPS = 5;
    private static final int SAMPLES = 3;
    private static final double KL_COEF = 0.1;
    private static final AdvantageRegistry.Settings SETTINGS =
            new AdvantageRegistry.Settings(Normalization.BY_STD, 0.9, 0.8, List.of(1.0, 0.5));
    private static final StructType LOG_PROBS = new StructType()
            .add("trajectory_id", DataTypes.StringType)
            .add("segment_index", DataTypes.IntegerType)
            .add("response_mask", DataTypes.createArrayType(DataTypes.IntegerType, false))
            .add("old_log_probs", DataTypes.createArrayType(DataTypes.FloatType, false))
            .add("ref_log_probs", DataTypes.createArrayType(DataTypes.FloatType, false))
            .add("values", DataTypes.createArrayType(DataTypes.FloatType, false))
            .add("squared_probabilities", DataTypes.createArrayType(DataTypes.FloatType, false))
            .add("rollout_is_weights", DataTypes.createArrayType(DataTypes.FloatType, false))
            .add("corrected_mask", DataTypes.createArrayType(DataTypes.IntegerType, false))
            .add("rejected", DataTypes.BooleanType);

    /** A trajectory as the stages before this one leave it; without a reward if it failed. */
    private record Trajectory(
            String group,
            int sample,
            Double reward,
            int[] mask,
            float[] old,
            float[] ref,
            float[] values,
            float[] squares) {

        static Trajectory random(Random random, int group, int sample) {
            int length = sample == 2 && group == 1 ? 0 : 1 + random.nextInt(6);
            return new Trajectory(
                    "run/1/" + group,
                    sample,
                    group == 3 && sample == 0 ? null : (Double) (double) random.nextInt(3),
                    random.ints(length, 0, 3)
                            .map(x -> group == 2 && sample == 1 ? 0 : Math.min(x, 1))
                            .toArray(),
                    floats(random, length, -1),
                    floats(random, length, -1),
                    floats(random, length, 1),
                    floats(random, length, 0.5));
        }

        private static float[] floats(Random random, int length, double scale) {
            float[] floats = new float[length];
            for (int t = 0; t < length; t++) {
                floats[t] = (float) (random.nextDouble() * scale);
            }
            return floats;
        }

        String id() {
            return group + "/" + sample;
        }

        /** Whether rollout correction left no token of it. */
        boolean isRejected() {
            return group.endsWith("2") && sample == 1;
        }

        double baseline() {
            return group.endsWith("4") ? Double.NaN : 0.75;
        }

        double[] byKey() {
            return reward == null ? new double[] {Double.NaN, Double.NaN} : new double[] {reward, sample};
        }

        Row logProbs() {
            return segment(0, 0, mask.length);
        }

        /** The tokens from {@code start} to {@code end} as a segment of their own. */
        Row segment(int index, int start, int end) {
            return RowFactory.create(
                    id(),
                    index,
                    Arrays.copyOfRange(mask, start, end),
                    Arrays.copyOfRange(old, start, end),
                    Arrays.copyOfRange(ref, start, end),
                    Arrays.copyOfRange(values, start, end),
                    Arrays.copyOfRange(squares, start, end),
                    weights() == null ? null : Arrays.copyOfRange(weights(), start, end),
                    null,
                    isRejected());
        }

        /** The trajectory in segments, the last but one of them a single token that rollout correction rejected. */
        List<Row> segments() {
            int middle = mask.length / 2;
            float[] one = new float[1];
            boolean rejected = isRejected() || Arrays.stream(mask).anyMatch(m -> m == 1);
            return List.of(
                    segment(0, 0, middle),
                    RowFactory.create(id(), 1, new int[1], one, one, one, one, one, null, rejected),
                    segment(2, middle, mask.length));
        }

        /** Importance weights, of some trajectories. */
        float[] weights() {
            float[] weights = squares.clone();
            for (int t = 0; t < weights.length; t++) {
                weights[t] += 0.5f;
            }
            return group.endsWith("0") ? null : weights;
        }

        Row score() {
            Map<String, Double> rewards = new HashMap<>();
            rewards.put("first", reward);
            rewards.put("second", reward == null ? null : (Double) byKey()[1]);
            return RowFactory.create(
                    "run",
                    1,
                    group,
                    sample,
                    id(),
                    "sums",
                    reward,
                    scala.jdk.javaapi.CollectionConverters.asScala(rewards),
                    scala.jdk.javaapi.CollectionConverters.asScala(Map.of()),
                    reward == null ? "failed" : "scored",
                    null);
        }

        /** The greedy response to the same prompt. */
        Row greedyScore() {
            Double greedy = Double.isNaN(baseline()) ? null : (Double) baseline();
            return new Trajectory(group, TrajectoryKey.GREEDY_BASELINE, greedy, mask, old, ref, values, squares)
                    .score();
        }

        /** The same for an estimator on arrays, with the divergence in its reward. */
        Sample sampleOf(KlPenalty kind) {
            boolean[] sampled = new boolean[mask.length];
            double[] rewards = new double[mask.length];
            double score = reward == null || isRejected() ? Double.NaN : reward;
            int last = -1;
            for (int t = 0; t < mask.length; t++) {
                sampled[t] = mask[t] == 1;
                last = sampled[t] ? t : last;
                rewards[t] = sampled[t] && kind != null ? -KL_COEF * kind.value(old[t], ref[t]) : 0;
                score += rewards[t];
            }
            if (last >= 0 && reward != null) {
                rewards[last] += reward;
            }
            Sample.Builder builder = Sample.of(score, rewards, sampled);
            if (weights() != null) {
                builder.importanceWeights(doubles(weights()));
            }
            return builder.values(doubles(values))
                    .logProbs(doubles(old))
                    .squaredProbabilities(doubles(squares))
                    .rewards(byKey())
                    .baseline(baseline())
                    .build();
        }

        private static double[] doubles(float[] floats) {
            return IntStream.range(0, floats.length).mapToDouble(t -> floats[t]).toArray();
        }
    }

    private static List<Trajectory> batch() {
        Random random = new Random(3);
        List<Trajectory> batch = new ArrayList<>();
        for (int group = 0; group < GROUPS; group++) {
            for (int sample = 0; sample < SAMPLES; sample++) {
                batch.add(Trajectory.random(random, group, sample));
            }
        }
        return batch;
    }

    private static Dataset<Row> logProbs(List<Trajectory> batch) {
        return spark.createDataFrame(batch.stream().map(Trajectory::logProbs).toList(), LOG_PROBS);
    }

    private static Dataset<Row> scores(List<Trajectory> batch) {
        Stream<Row> greedy = batch.stream().filter(row -> row.sample() == 0).map(Trajectory::greedyScore);
        return spark.createDataFrame(
                Stream.concat(batch.stream().map(Trajectory::score), greedy).toList(), Schemas.struct(Table.SCORES));
    }

    private static AdvantageStage stage(String name, KlPenalty kind) {
        return new AdvantageStage(AdvantageRegistry.create(name, SETTINGS), List.of("first", "second"), kind);
    }

    private static Map<String, Row> byId(Dataset<Row> experience) {
        Map<String, Row> rows = new HashMap<>();
        experience.collectAsList().forEach(row -> rows.put(row.getAs("trajectory_id"), row));
        return rows;
    }

    private static List<Float> floats(Row row, String column) {
        return row.getList(row.fieldIndex(column));
    }

    @ParameterizedTest // every input and every normalization; the estimators themselves are tested on arrays
    @ValueSource(strings = {"gae", "grpo", "gpg", "gdpo", "remax", "tir_optimal_token_baseline"})
    void equalsTheEstimatorOnArrays(String name) {
        List<Trajectory> batch = batch();
        KlPenalty kind = name.equals("gdpo") ? null : KlPenalty.K3;
        AdvantageEstimator estimator = AdvantageRegistry.create(name, SETTINGS);
        List<List<Sample>> groups = IntStream.range(0, GROUPS)
                .mapToObj(g -> batch.subList(g * SAMPLES, (g + 1) * SAMPLES).stream()
                        .map(row -> row.sampleOf(kind))
                        .toList())
                .toList();
        List<Advantages> expected =
                estimator.estimateBatch(groups).stream().flatMap(List::stream).toList();

        Map<String, Row> actual = byId(stage(name, kind).run(logProbs(batch), scores(batch), KL_COEF));

        assertThat(actual).hasSize(batch.size());
        for (int i = 0; i < batch.size(); i++) {
            Row row = actual.get(batch.get(i).id());
            assertClose(floats(row, "advantages"), expected.get(i).advantages());
            assertClose(floats(row, "returns"), expected.get(i).returns());
            assertThat(row.<Double>getAs("reward")).isEqualTo(batch.get(i).reward());
        }
    }

    @Test
    void aTrajectoryThatLacksOneOfTheRewardsOfGdpoIsAbsent() {
        List<Trajectory> batch = batch();
        Dataset<Row> lacking = scores(batch)
                .withColumn(
                        "rewards",
                        expr("IF(sample_index = 1, map_from_arrays(array('first'), array(reward)), rewards)"));

        stage("gdpo", null).run(logProbs(batch), lacking, 0).collectAsList().forEach(row -> {
            if (row.<Integer>getAs("sample_index") == 1) {
                assertThat(row.<Double>getAs("reward")).isNull();
            }
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"gae", "gpg", "opo", "tir_optimal_token_baseline"})
    void aTrajectoryInSegmentsIsOneSample(String name) {
        List<Trajectory> batch = batch();
        AdvantageStage stage = stage(name, KlPenalty.K1);
        Dataset<Row> segments = spark.createDataFrame(
                batch.stream().flatMap(row -> row.segments().stream()).toList(), LOG_PROBS);

        Map<String, Row> whole = byId(stage.run(logProbs(batch), scores(batch), KL_COEF));
        List<Row> parts = stage.run(segments.repartition(5), scores(batch), KL_COEF)
                .orderBy("trajectory_id", "segment_index")
                .collectAsList();

        assertThat(parts).hasSize(3 * batch.size());
        for (int i = 0; i < parts.size(); i += 3) {
            Row expected = whole.get(parts.get(i).<String>getAs("trajectory_id"));
            for (String column : List.of("token_level_rewards", "advantages", "returns")) {
                assertThat(floats(parts.get(i + 1), column)).containsExactly(0f);
                List<Float> joined = new ArrayList<>(floats(parts.get(i), column));
                joined.addAll(floats(parts.get(i + 2), column));
                assertClose(
                        joined,
                        floats(expected, column).stream()
                                .mapToDouble(Float::doubleValue)
                                .toArray());
            }
            assertThat(parts.subList(i, i + 3))
                    .allSatisfy(part -> assertThat(part.<Double>getAs("reward")).isEqualTo(expected.getAs("reward")));
        }
    }

    @Test
    void theDivergenceAsAnExpressionIsThatOfTheFunction() {
        List<Trajectory> batch = batch();
        for (KlPenalty kind : KlPenalty.values()) {
            Row row = logProbs(batch)
                    .limit(1)
                    .select(zip_with(
                                    col("old_log_probs"),
                                    col("ref_log_probs"),
                                    (p, q) -> KlExpressions.value(kind, p, q))
                            .as("kl"))
                    .head();
            List<Double> actual = row.getList(0);
            for (int t = 0; t < actual.size(); t++) {
                assertThat(actual.get(t))
                        .isCloseTo(
                                kind.value(batch.get(0).old()[t], batch.get(0).ref()[t]), within(1e-12));
            }
        }
    }

    @Test
    void theRewardLessTheDivergenceIsSpreadOverTheSampledTokens() {
        KlPenalty kind = KlPenalty.K1;
        List<Trajectory> batch = batch();

        Map<String, Row> actual = byId(stage("grpo", kind).run(logProbs(batch), scores(batch), KL_COEF));

        for (Trajectory row : batch) {
            Sample expected = row.sampleOf(kind);
            List<Float> tokens = floats(actual.get(row.id()), "token_level_rewards");
            double sum = tokens.stream().mapToDouble(Float::doubleValue).sum();
            boolean anySampled = Arrays.stream(row.mask()).anyMatch(m -> m == 1);
            if (anySampled && row.reward() != null && !row.isRejected()) {
                assertThat(sum).isCloseTo(expected.score(), within(1e-6));
            }
            for (int t = 0; t < row.mask().length; t++) {
                if (row.mask()[t] == 0) {
                    assertThat(tokens.get(t)).isZero();
                }
            }
        }
    }

    @Test
    void theDivergenceInTheRewardIsThatOfTokensThatRolloutCorrectionKept() {
        List<Trajectory> batch = batch();
        Dataset<Row> firstTokensFarOff = logProbs(batch)
                .withColumn(
                        "rollout_log_probs",
                        expr("transform(old_log_probs, (p, t) -> CAST(IF(t = 0, p - 5, p) AS FLOAT))"));
        RolloutCorrectionStage correction = new RolloutCorrectionStage(
                RolloutCorrection.NONE.withRejection(RejectionRule.parse("token_k1", "0.5_2")));

        Map<String, Row> actual = byId(stage("grpo", KlPenalty.K1)
                .run(correction.run(firstTokensFarOff, scores(batch)), scores(batch), KL_COEF));

        for (Trajectory row : batch) {
            List<Float> rewards = floats(actual.get(row.id()), "token_level_rewards");
            int last = IntStream.range(1, row.mask().length)
                    .filter(t -> row.mask()[t] == 1)
                    .max()
                    .orElse(-1);
            for (int t = 0; t < row.mask().length; t++) {
                double divergence = t > 0 && row.mask()[t] == 1 ? KL_COEF * (row.old()[t] - row.ref()[t]) : 0;
                double reward = t == last && row.reward() != null ? row.reward() : 0;
                assertThat(rewards.get(t).doubleValue()).isCloseTo(reward - divergence, within(1e-6));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"gae", "opo"})
    void isTheSameBitForBitHoweverTheRowsAreSpread(String name) {
        List<Trajectory> batch = batch();
        AdvantageStage stage = stage(name, null);

        Map<String, Row> one = byId(stage.run(logProbs(batch).coalesce(1), scores(batch), 0));
        Map<String, Row> many = byId(stage.run(
                logProbs(batch).repartition(7),
                scores(batch).orderBy(col("sample_index").desc()),
                0));

        assertThat(many).isEqualTo(one);
    }

    @Test
    void theModelsRunOnceEvenWhereTheBatchIsNormalized() {
        List<Trajectory> batch = batch();
        LongAccumulator passes = spark.sparkContext().longAccumulator();
        Dataset<Row> logProbs = logProbs(batch)
                .mapPartitions(
                        (MapPartitionsFunction<Row, Row>) rows -> {
                            List<Row> read = new ArrayList<>();
                            rows.forEachRemaining(read::add);
                            passes.add(read.size());
                            return read.iterator();
                        },
                        Encoders.row(LOG_PROBS))
                .persist(StorageLevel.DISK_ONLY());
        try {
            stage("reinforce_plus_plus", KlPenalty.K1)
                    .run(logProbs, scores(batch), KL_COEF)
                    .collectAsList();
            assertThat(passes.value()).isEqualTo(batch.size());
        } finally {
            logProbs.unpersist();
        }
    }

    @Test
    void withoutACriticAndAReferenceTheirColumnsMayBeNull() {
        List<Trajectory> batch = batch();
        Dataset<Row> logProbs = logProbs(batch)
                .withColumn("values", org.apache.spark.sql.functions.lit(null).cast("array<float>"))
                .withColumn(
                        "ref_log_probs",
                        org.apache.spark.sql.functions.lit(null).cast("array<float>"));

        Map<String, Row> rows = byId(stage("grpo", null).run(logProbs, scores(batch), 0));

        assertThat(rows).hasSize(batch.size());
        assertThat(rows.values()).allSatisfy(row -> {
            assertThat(row.isNullAt(row.fieldIndex("values"))).isTrue();
            assertThat(row.isNullAt(row.fieldIndex("ref_log_probs"))).isTrue();
        });
    }

    private static void assertClose(List<Float> actual, double[] expected) {
        assertThat(actual).hasSize(expected.length);
        for (int t = 0; t < expected.length; t++) {
            assertThat(actual.get(t).doubleValue())
                    .isCloseTo(expected[t], within(1e-6 * Math.max(1, Math.abs(expected[t]))));
        }
    }
}
