package io.bellows.stage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.example.TakingTurns;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.SparkTest;
import io.bellows.config.BellowsConfig;
import io.bellows.data.PromptSchema;
import io.bellows.engine.Admission;
import io.bellows.engine.EngineStats;
import io.bellows.engine.InferenceEngine;
import io.bellows.env.EnvironmentSettings;
import io.bellows.model.Activations;
import io.bellows.model.ComputeType;
import io.bellows.model.GoldenModel;
import io.bellows.resident.ExecutorHost;
import io.bellows.resident.ExecutorHost.Role;
import io.bellows.resident.ResidentSettings;
import io.bellows.resident.WeightsRef;
import io.bellows.text.ChatPrompt;
import io.bellows.text.ChatTokenizer;
import io.bellows.text.GenerationPrompt;
import io.bellows.text.Message;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.apache.spark.api.java.function.ForeachPartitionFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Rollouts whose task or engine goes wrong. */
class RolloutStageTest extends SparkTest {

    private static final String RUN = "rollout-test";
    private static final ResidentSettings SETTINGS =
            new ResidentSettings(128, 2, 64, Admission.ORDERED, 1, ComputeType.FLOAT32, Activations.KEEP);
    private static final EnvironmentSettings ENVIRONMENTS =
            EnvironmentSettings.of(BellowsConfig.fromResolved(new JsonMapper().createObjectNode()));
    private static final Message COUNT = Message.of("user", "count");
    private static final WeightsRef WEIGHTS =
            WeightsRef.initial(GoldenModel.named("qwen2").folder().toString());

    @AfterEach
    void release() {
        ExecutorHost.release(RUN);
    }

    private static Dataset<Row> rollOut(int samples) {
        return rollOut(null, samples, 80, SETTINGS);
    }

    private static Dataset<Row> rollOut(String tools, int samples, int maxTokens, ResidentSettings settings) {
        return rollOut(ENVIRONMENTS, tools, samples, maxTokens, settings);
    }

    private static Dataset<Row> rollOut(
            EnvironmentSettings environments, String tools, int samples, int maxTokens, ResidentSettings settings) {
        return rollOut(environments, tools, 1, samples, maxTokens, settings);
    }

    private static Dataset<Row> rollOut(
            EnvironmentSettings environments,
            String tools,
            int count,
            int samples,
            int maxTokens,
            ResidentSettings settings) {
        List<Row> rows = IntStream.range(0, count)
                .mapToObj(position -> RowFactory.create(
                        "file:" + position,
                        0L,
                        "test",
                        List.of(PromptSchema.row(COUNT)),
                        null,
                        null,
                        "{}",
                        tools,
                        10,
                        position))
                .toList();
        Dataset<Row> prompts =
                spark.createDataFrame(rows, PromptSchema.PROMPT.add("position", DataTypes.IntegerType, false));
        RolloutSampling sampling = new RolloutSampling(
                samples, RolloutSampling.Baseline.NONE, 1, -1, 1, 0, maxTokens, List.of(), 7, new HashMap<>());
        return new RolloutStage(RUN, settings, sampling, environments, 1).run(prompts, 1, WEIGHTS);
    }

    private static InferenceEngine engine() {
        return ExecutorHost.model(RUN, Role.POLICY, WEIGHTS, SETTINGS).engine(WEIGHTS);
    }

    @Test
    void theToolsOfARowAreInItsPrompt() throws IOException {
        String tools = "[{\"type\":\"function\",\"function\":{\"name\":\"add\"}}]";
        ResidentSettings roomy =
                new ResidentSettings(512, 2, 64, Admission.ORDERED, 1, ComputeType.FLOAT32, Activations.KEEP);
        Row trajectory = rollOut(tools, 1, 1, roomy).first();
        try (ChatTokenizer text = ChatTokenizer.load(Path.of(WEIGHTS.modelFolder()), Map.of())) {
            JsonNode schemas = new JsonMapper().readTree(tools);
            ChatPrompt expected = text.encode(List.of(COUNT), schemas, GenerationPrompt.ADD);
            assertThat(expected.text())
                    .contains(schemas.get(0).path("function").path("name").asText());
            assertThat(trajectory.<Integer>getList(trajectory.fieldIndex("prompt_ids")))
                    .containsExactlyElementsOf(
                            IntStream.of(expected.ids()).boxed().toList());
        }
    }

    @Test
    void anEnvironmentComparesTheSamplesOfItsPrompt() {
        ObjectNode longest = new JsonMapper().createObjectNode();
        longest.putObject("rollout").putObject("agent").put("default_agent_loop", "longest");
        EnvironmentSettings environments = EnvironmentSettings.of(BellowsConfig.fromResolved(longest));
        ResidentSettings continuous =
                new ResidentSettings(128, 2, 64, Admission.CONTINUOUS, 1, ComputeType.FLOAT32, Activations.KEEP);
        for (ResidentSettings settings : List.of(SETTINGS, continuous)) {
            List<Row> rows = rollOut(environments, null, 3, 40, settings).collectAsList();
            List<Integer> lengths = rows.stream()
                    .map(row -> row.getList(row.fieldIndex("response_ids")).size())
                    .toList();
            List<Double> rewards = rows.stream()
                    .map(row -> row.<Row>getAs("score").<Double>getAs("reward"))
                    .toList();
            double most = lengths.stream().mapToInt(Integer::intValue).max().orElseThrow();
            assertThat(rewards)
                    .hasSize(3)
                    .containsExactlyElementsOf(
                            lengths.stream().map(length -> length / most).toList());
            ExecutorHost.release(RUN);
        }
    }

    @Test
    void whatWaitsForTheOthersOfItsPromptKeepsNoPlaceAmongThoseThatRunAtOnce() {
        ObjectNode turns = new JsonMapper().createObjectNode();
        turns.putObject("rollout")
                .putObject("agent")
                .put("default_agent_loop", "taking_turns")
                .put("num_workers", 2);
        EnvironmentSettings environments = EnvironmentSettings.of(BellowsConfig.fromResolved(turns));
        ResidentSettings oneSlot =
                new ResidentSettings(128, 1, 64, Admission.CONTINUOUS, 1, ComputeType.FLOAT32, Activations.KEEP);

        List<Row> rows = rollOut(environments, null, TakingTurns.PROMPTS, TakingTurns.SAMPLES, 5, oneSlot)
                .collectAsList();

        assertThat(rows).hasSize(TakingTurns.PROMPTS * TakingTurns.SAMPLES);
        assertThat(rows)
                .allSatisfy(row -> assertThat(row.<Row>getAs("score").<Double>getAs("reward"))
                        .isEqualTo(2.0));
    }

    @Test
    void aTaskThatFailsLeavesNoWorkToTheEngine() {
        int samples = 2000;
        assertThatThrownBy(() -> rollOut(samples).foreachPartition((ForeachPartitionFunction<Row>) rows -> {
                    rows.next();
                    throw new IllegalStateException("disk full");
                }))
                .hasRootCauseMessage("disk full");

        EngineStats stats = engine().stats();
        for (int i = 0; i < 1000 && stats.active() + stats.waiting() > 0; i++) {
            LockSupport.parkNanos(5_000_000); // the engine sees a cancelled sample at its next step
            stats = engine().stats();
        }
        assertThat(stats.active() + stats.waiting()).isZero();
        assertThat(stats.generatedTokens()).isLessThan(samples * 10L);
    }

    @Test
    void anEngineThatStopsFailsTheTaskAndMakesNoRows() {
        assertThatThrownBy(() -> rollOut(2000).foreachPartition((ForeachPartitionFunction<Row>) rows -> {
                    engine().close();
                    rows.forEachRemaining(
                            row -> assertThat(row.<String>getAs("status")).isNotEqualTo("failed"));
                }))
                .rootCause()
                .hasMessageContaining("Cannot generate: the engine is closed");
    }
}
