package io.bellows.stage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.bellows.SparkTest;
import io.bellows.config.RewardConfig;
import io.bellows.config.RewardModelInput;
import io.bellows.engine.Admission;
import io.bellows.model.Activations;
import io.bellows.model.ComputeType;
import io.bellows.model.GoldenModel;
import io.bellows.resident.ExecutorHost;
import io.bellows.resident.ResidentSettings;
import io.bellows.resident.WeightsRef;
import io.bellows.reward.RewardOutcome.Status;
import io.bellows.reward.RewardRegistry;
import io.bellows.reward.RewardScore;
import io.bellows.reward.WeightedRewards;
import io.bellows.text.ChatTokenizer;
import io.bellows.text.GenerationPrompt;
import io.bellows.text.Message;
import io.bellows.training.MicroBatching;
import io.bellows.trajectory.Outcome;
import io.bellows.trajectory.Schemas;
import io.bellows.trajectory.Score;
import io.bellows.trajectory.Table;
import io.bellows.trajectory.Tokens;
import io.bellows.trajectory.Trajectory;
import io.bellows.trajectory.TrajectoryKey;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A reward model whose score is the logit of a token says what transformers computed for that logit. */
class RewardModelStageTest extends SparkTest {

    private static final String RUN = "reward-model-test";
    private static final int TOKEN = 7;
    private static final ResidentSettings SETTINGS =
            new ResidentSettings(64, 2, 16, Admission.ORDERED, 1, ComputeType.FLOAT32, Activations.KEEP);
    private static final Outcome ENDED = Outcome.completed("stop");

    @TempDir
    private Path folder;

    private final List<Row> rows = new ArrayList<>();

    @AfterEach
    void release() {
        ExecutorHost.release(RUN);
    }

    private void add(int position, int segment, int[] ids, int response, Outcome outcome, Score streamed) {
        int prompt = ids.length - response;
        rows.add(new Trajectory(
                        TrajectoryKey.of(RUN, 1, position, "file:" + position, 0),
                        segment,
                        "test",
                        "single_turn",
                        0,
                        0,
                        List.of(Message.of("user", "question")),
                        List.of(Message.of("assistant", "answer")),
                        Tokens.sampled(
                                Arrays.copyOf(ids, prompt),
                                Arrays.copyOfRange(ids, prompt, ids.length),
                                new float[response]),
                        List.of(),
                        outcome,
                        Map.of("completion_tokens", 3.0),
                        Map.of(),
                        null,
                        null,
                        "{}",
                        streamed)
                .toRow());
    }

    private Map<Integer, Row> scores(GoldenModel golden, MicroBatching batching) {
        return scores(golden, batching, RewardModelInput.POLICY_IDS, 64);
    }

    private Map<Integer, Row> scores(GoldenModel golden, MicroBatching batching, RewardModelInput input, int longest) {
        golden.saveRewardModel(folder, TOKEN);
        WeightedRewards rewards = RewardRegistry.standard()
                .create(List.of(
                        new RewardConfig.Function("reward_model", 2, Map.of()),
                        new RewardConfig.Function("format_match", 1, Map.of("pattern", "answer"))));
        RewardModelStage model =
                new RewardModelStage(RUN, SETTINGS, WeightsRef.initial(folder.toString()), input, longest, batching, 2);
        Dataset<Row> trajectories = spark.createDataset(rows, Encoders.row(Schemas.struct(Table.TRAJECTORIES)))
                .repartition(3);
        Map<Integer, Row> byPosition = new HashMap<>();
        for (Row row : new ScoreStage(rewards, model).run(trajectories).collectAsList()) {
            int position = Integer.parseInt(row.<String>getAs("group_id").replaceFirst(".*/", ""));
            assertThat(byPosition.put(position, row)).isNull();
        }
        return byPosition;
    }

    @ParameterizedTest
    @ValueSource(strings = {"qwen2", "llama", "mistral_swa"})
    void aScoreIsTheHeadAtTheLastToken(String name) {
        GoldenModel golden = GoldenModel.named(name);
        List<int[]> sequences = golden.rows("left");
        for (int i = 0; i < sequences.size(); i++) {
            add(i, 0, sequences.get(i), 3, ENDED, null);
        }
        Map<Integer, Double> expected = golden.lastLogits("left", TOKEN);
        assertThat(expected).isNotEmpty();
        for (MicroBatching batching : List.of(MicroBatching.byRows(1), MicroBatching.byTokens(64))) {
            Map<Integer, Row> scores = scores(golden, batching);
            assertThat(scores).hasSize(sequences.size());
            expected.forEach((row, logit) -> {
                Map<String, Double> components =
                        scores.get(row).getJavaMap(scores.get(row).fieldIndex("rewards"));
                assertThat(components.get("reward_model")).isCloseTo(logit, within(1e-4));
                assertThat(scores.get(row).<Double>getAs("reward")).isCloseTo(2 * logit + 1, within(2e-4));
            });
        }
    }

    @Test
    void theLastSegmentIsReadAndOnlyOfTrajectoriesThatHaveNoScoreYet() {
        GoldenModel golden = GoldenModel.named("qwen2");
        int[] known = golden.rows("left").get(0);
        Map<Integer, Double> logits = golden.lastLogits("left", TOKEN);
        assertThat(logits).containsKey(0);
        int[] other = {5, 6, 7, 8};
        add(0, 0, other, 2, ENDED, null);
        add(0, 1, known, 2, ENDED, null);
        add(1, 0, known, 2, new Outcome(Outcome.Status.FAILED, "has_error", "environment", "broken"), null);
        add(2, 0, known, 2, ENDED, Score.of(new RewardScore(7.0, Map.of("own", 7.0), Status.SCORED, null)));
        add(3, 0, other, 2, ENDED, null);
        add(3, 1, known, 0, ENDED, null);

        Map<Integer, Row> scores = scores(golden, MicroBatching.byRows(4));

        assertThat(scores.get(0).<Double>getAs("reward")).isCloseTo(2 * logits.get(0) + 1, within(2e-4));
        assertThat(scores.get(1).<Double>getAs("reward")).isNull();
        assertThat(scores.get(2).<Double>getAs("reward")).isEqualTo(7);
        assertThat(scores.get(3).<Double>getAs("reward")).isNull();
        assertThat(scores.get(3).<String>getAs("message")).contains("reward_model: the reward model was not asked");
    }

    @Test
    void whereIdsMeanSomethingElseToItItReadsTheMessagesInItsOwnAndTheLastWordIsThePolicys() throws IOException {
        GoldenModel golden = GoldenModel.named("qwen2");
        int[] own;
        try (ChatTokenizer text = ChatTokenizer.load(golden.folder(), Map.of())) {
            List<Message> messages = List.of(Message.of("user", "question"), Message.of("assistant", "answer"));
            own = text.encode(messages, null, GenerationPrompt.NONE).ids();
        }
        add(0, 0, new int[] {5, 6, 7, 8}, 2, ENDED, null);
        add(1, 0, own, 2, ENDED, null);
        Row first = scores(golden, MicroBatching.byRows(2), RewardModelInput.TEXT, 64)
                .get(0);
        ExecutorHost.release(RUN);
        Map<Integer, Row> byIds = scores(golden, MicroBatching.byRows(2));

        assertThat(first.<Double>getAs("reward"))
                .isEqualTo(byIds.get(1).<Double>getAs("reward"))
                .isNotEqualTo(byIds.get(0).<Double>getAs("reward"));
        Row tooLong = scores(golden, MicroBatching.byRows(2), RewardModelInput.TEXT, own.length - 1)
                .get(0);
        assertThat(tooLong.<Double>getAs("reward")).isNull();
        assertThat(tooLong.<String>getAs("message")).contains("the reward model was not asked");
    }
}
