package io.bellows.stage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import io.bellows.SparkTest;
import io.bellows.engine.Admission;
import io.bellows.model.Activations;
import io.bellows.model.ComputeType;
import io.bellows.model.GoldenModel;
import io.bellows.model.Head;
import io.bellows.model.Kernels;
import io.bellows.model.ModelFolder;
import io.bellows.model.Weights;
import io.bellows.resident.ExecutorHost;
import io.bellows.resident.ExecutorHost.Role;
import io.bellows.resident.ResidentSettings;
import io.bellows.resident.WeightsRef;
import io.bellows.stage.LogProbStage.Squares;
import io.bellows.training.MicroBatching;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Log-probs and values come back to the rows they belong to, however the rows were cut. */
class LogProbStageTest extends SparkTest {

    private static final String RUN = "log-prob-test";
    private static final int ROWS = 12;
    private static final int EMPTY = 5;
    private static final int TOOL = 1; // place of a token that was not sampled, in every response
    private static final ResidentSettings SETTINGS =
            new ResidentSettings(64, 2, 16, Admission.ORDERED, 1, ComputeType.FLOAT32, Activations.KEEP);
    private static final WeightsRef POLICY =
            WeightsRef.initial(GoldenModel.named("qwen2").folder().toString());
    private static final StructType TRAJECTORIES = new StructType()
            .add("group_id", DataTypes.StringType)
            .add("sample_index", DataTypes.IntegerType)
            .add("trajectory_id", DataTypes.StringType)
            .add("segment_index", DataTypes.IntegerType)
            .add("prompt_ids", DataTypes.createArrayType(DataTypes.IntegerType))
            .add("response_ids", DataTypes.createArrayType(DataTypes.IntegerType))
            .add("response_mask", DataTypes.createArrayType(DataTypes.IntegerType))
            .add("rollout_log_probs", DataTypes.createArrayType(DataTypes.FloatType))
            .add("metrics", DataTypes.createMapType(DataTypes.StringType, DataTypes.DoubleType));

    @TempDir
    private static Path critic;

    @BeforeAll
    static void aCriticWithSomethingToSay() {
        Path source = GoldenModel.named("qwen2").folder();
        try (Kernels kernels = Kernels.load(Device.cpu());
                Weights weights = Weights.load(kernels, source, Head.VALUE, ComputeType.FLOAT32)) {
            NDArray head = weights.parameters().get("score.weight");
            float[] values = new float[(int) head.size()];
            Random random = new Random(1);
            for (int i = 0; i < values.length; i++) {
                values[i] = (float) random.nextGaussian();
            }
            head.set(values);
            ModelFolder.saveCritic(source, critic, weights);
        }
    }

    @AfterEach
    void release() {
        ExecutorHost.release(RUN);
    }

    private static Dataset<Row> trajectories() {
        Random random = new Random(2);
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < ROWS; i++) {
            List<Integer> response = ids(random, i == EMPTY ? 0 : 1 + random.nextInt(12));
            rows.add(RowFactory.create(
                    "run/1/" + i / 3,
                    i % 3,
                    "row %02d".formatted(i),
                    0,
                    ids(random, 2 + random.nextInt(6)),
                    response,
                    IntStream.range(0, response.size())
                            .mapToObj(t -> t == TOOL ? 0 : 1)
                            .toList(),
                    response.stream().map(id -> -id / 10f).toList(),
                    new HashMap<>()));
        }
        return spark.createDataFrame(rows, TRAJECTORIES);
    }

    private static List<Integer> ids(Random random, int count) {
        return random.ints(count, 0, 100).boxed().toList();
    }

    private static List<Row> scored(MicroBatching microBatching, WeightsRef reference, WeightsRef critic) {
        Map<Role, MicroBatching> everywhere =
                Map.of(Role.POLICY, microBatching, Role.REFERENCE, microBatching, Role.CRITIC, microBatching);
        List<Row> rows = new ArrayList<>(new LogProbStage(RUN, SETTINGS, 1, Squares.SUMMED, everywhere, 2)
                .run(trajectories(), POLICY, reference, critic)
                .collectAsList());
        rows.sort(Comparator.comparing(row -> row.<String>getAs("trajectory_id")));
        return rows;
    }

    private static void assertSame(List<Row> rows, List<Row> expected, String column) {
        for (int i = 0; i < ROWS; i++) {
            List<Float> numbers = rows.get(i).getList(rows.get(i).fieldIndex(column));
            List<Float> wanted = expected.get(i).getList(expected.get(i).fieldIndex(column));
            assertThat(numbers).hasSameSizeAs(wanted);
            for (int t = 0; t < numbers.size(); t++) {
                assertThat(numbers.get(t)).as("%s %d of row %d", column, t, i).isCloseTo(wanted.get(t), within(1e-4f));
            }
        }
    }

    @Test
    void withoutAPolicyThoseOfTheEngineStandForTheOldLogProbs() {
        Map<Role, MicroBatching> everywhere = Map.of();
        List<Row> rows = new LogProbStage(RUN, SETTINGS, 1, Squares.NONE, everywhere, 2)
                .run(trajectories(), null, null, null)
                .collectAsList();

        assertThat(rows)
                .hasSize(ROWS)
                .allSatisfy(row -> assertThat(row.<Float>getList(row.fieldIndex("old_log_probs")))
                        .isEqualTo(row.getList(row.fieldIndex("rollout_log_probs"))))
                .allSatisfy(row ->
                        assertThat(row.<Object>getAs("squared_probabilities")).isNull());
    }

    @Test
    void everyRowGetsItsOwnNumbersHoweverTheRowsAreCut() {
        WeightsRef valued = WeightsRef.initial(critic.toString());
        List<Row> oneByOne = scored(MicroBatching.byRows(1), POLICY, valued);
        assertThat(oneByOne).hasSize(ROWS);
        for (MicroBatching cut :
                List.of(MicroBatching.byRows(4), MicroBatching.byTokens(20), MicroBatching.byTokens(1000))) {
            List<Row> rows = scored(cut, POLICY, valued);
            for (String column : List.of("old_log_probs", "ref_log_probs", "squared_probabilities", "values")) {
                assertSame(rows, oneByOne, column);
            }
        }
        assertThat(oneByOne.get(0).<Object>getAs("values"))
                .isNotEqualTo(oneByOne.get(0).getAs("old_log_probs"));
        assertThat(oneByOne.get(EMPTY).getList(oneByOne.get(EMPTY).fieldIndex("values")))
                .isEmpty();
    }

    @Test
    void withoutReferenceAndCriticTheirColumnsAreNull() {
        assertThat(scored(MicroBatching.byTokens(64), null, null)).hasSize(ROWS).allSatisfy(row -> {
            assertThat(row.<Object>getAs("old_log_probs")).isNotNull();
            assertThat(row.<Object>getAs("ref_log_probs")).isNull();
            assertThat(row.<Object>getAs("values")).isNull();
        });
    }
}
