package io.bellows.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.bellows.config.BellowsConfig;
import io.bellows.config.OptimConfig;
import io.bellows.model.ComputeType;
import io.bellows.model.Decoder;
import io.bellows.model.GoldenModel;
import io.bellows.model.Gradients;
import io.bellows.model.Head;
import io.bellows.model.Kernels;
import io.bellows.model.Weights;
import io.bellows.udfs.batching.OversizeSequenceException;
import io.bellows.udfs.loss.LossAggregation;
import io.bellows.udfs.metrics.Metrics;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Loss and gradient of a mini-batch are the same however it is cut into micro-batches, and in whatever order its rows come. */
class MicroBatchingTest {

    private static final MicroBatching WHOLE = MicroBatching.byTokens(10_000);
    private static final List<MicroBatching> CUTS = List.of(
            MicroBatching.byTokens(20), MicroBatching.byTokens(33), MicroBatching.byRows(1), MicroBatching.byRows(3));
    private static final AdamW.Settings ADAM_W = new AdamW.Settings(0.9, 0.999, 1e-8, 0);
    private static final LearningRateSchedule STANDING_STILL =
            new LearningRateSchedule(new OptimConfig(0, -1, 0, "constant", 0, 0, List.of(0.9, 0.999), 1e-8), 1);

    private static Kernels kernels;

    /** What is trained, under an aggregation whose denominators differ from token to token. */
    private enum Trained {
        POLICY(Head.TOKENS, "actor/loss") {
            @Override
            Objective objective() {
                return policy("vanilla", "{}");
            }
        },
        CLIP_COV(Head.TOKENS, "actor/loss") {
            @Override
            Objective objective() {
                return policy("clip_cov", "{}");
            }
        },
        KL_COV(Head.TOKENS, "actor/loss") {
            @Override
            Objective objective() {
                return policy("kl_cov", "{}");
            }
        },
        BYPASS(Head.TOKENS, "actor/loss") {
            @Override
            Objective objective() {
                return policy("vanilla", """
                    {"bypass_mode": true, "rollout_rs": "token_k2", "rollout_rs_threshold": "4"}
                    """);
            }
        },
        CRITIC(Head.VALUE, "critic/vf_loss") {
            @Override
            Objective objective() {
                return new ValueObjective(0.5, LossAggregation.SEQ_MEAN_TOKEN_MEAN, 64);
            }
        };

        private final Head head;
        private final String loss;

        Trained(Head head, String loss) {
            this.head = head;
            this.loss = loss;
        }

        abstract Objective objective();
    }

    private record Outcome(double loss, List<float[]> gradient) {}

    @BeforeAll
    static void load() {
        kernels = Kernels.load(Device.cpu());
    }

    @AfterAll
    static void close() {
        kernels.close();
    }

    private static PolicyObjective policy(String lossMode, String rolloutCorrection) {
        try {
            BellowsConfig config =
                    BellowsConfig.fromResolved(new ObjectMapper().readTree("""
                        {"actor": {"use_kl_loss": true, "kl_loss_coef": 0.1, "entropy_coeff": 0.01,
                                   "loss_agg_mode": "seq-mean-token-mean",
                                   "policy_loss": {"loss_mode": "%s", "clip_cov_ratio": 0.2, "clip_cov_lb": 0,
                                                   "kl_cov_ratio": 0.2}},
                         "algorithm": {"rollout_correction": %s}}
                        """.formatted(lossMode, rolloutCorrection)));
            return new PolicyObjective(config.actor(), config.algorithm().rolloutCorrection(), 0.7, 64, 1);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Rows of 2 to 20 tokens, one of them without a response, with gaps in the masks; five prompts, each of two rows. */
    private static List<TrainingSequence> rows() {
        Random random = new Random(3);
        List<TrainingSequence> rows = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            int response = i == 4 ? 0 : 1 + random.nextInt(12);
            boolean[] mask = new boolean[response];
            for (int t = 0; t < response; t++) {
                mask[t] = t == 0 || random.nextInt(4) > 0;
            }
            rows.add(new TrainingSequence(
                    "row " + i,
                    i < 5 ? ids(random, 2 + random.nextInt(6)) : rows.get(i - 5).promptIds(),
                    ids(random, response),
                    mask,
                    numbers(random, response, -5),
                    numbers(random, response, -5),
                    numbers(random, response, 0),
                    numbers(random, response, 0),
                    numbers(random, response, 0),
                    null,
                    null));
        }
        return rows;
    }

    private static int[] ids(Random random, int count) {
        return random.ints(count, 0, 100).toArray();
    }

    private static float[] numbers(Random random, int count, double mean) {
        float[] numbers = new float[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = (float) (mean + random.nextGaussian());
        }
        return numbers;
    }

    private static Outcome step(Trained trained, List<TrainingSequence> rows, MicroBatching microBatching) {
        try (Weights weights =
                        Weights.load(kernels, GoldenModel.named("qwen2").folder(), trained.head, ComputeType.FLOAT32);
                Decoder decoder = new Decoder(kernels, weights.config(), 64);
                Gradients gradients = Gradients.of(kernels, weights);
                AdamW optimizer = new AdamW(kernels, weights, ADAM_W)) {
            if (trained.head == Head.VALUE) {
                NDArray head = weights.parameters().get("score.weight");
                head.set(numbers(new Random(5), (int) head.size(), 0));
            }
            Metrics metrics = new Trainer(
                            new TrainedModel(decoder, weights, gradients),
                            optimizer,
                            new UpdateSettings(trained.objective(), ADAM_W, STANDING_STILL, 0, microBatching))
                    .step(rows);
            return new Outcome(
                    metrics.values().get(trained.loss),
                    gradients.tensors().stream().map(NDArray::toFloatArray).toList());
        }
    }

    private static double norm(List<float[]> vectors) {
        double squares = 0;
        for (float[] vector : vectors) {
            for (float x : vector) {
                squares += (double) x * x;
            }
        }
        return Math.sqrt(squares);
    }

    private static List<float[]> difference(List<float[]> a, List<float[]> b) {
        List<float[]> differences = new ArrayList<>();
        for (int i = 0; i < a.size(); i++) {
            float[] difference = a.get(i).clone();
            for (int j = 0; j < difference.length; j++) {
                difference[j] -= b.get(i)[j];
            }
            differences.add(difference);
        }
        return differences;
    }

    @ParameterizedTest
    @EnumSource
    void lossAndGradientAreTheSame(Trained trained) {
        Outcome whole = step(trained, rows(), WHOLE);
        assertThat(norm(whole.gradient)).isGreaterThan(0.01);
        List<TrainingSequence> shuffled = rows();
        Collections.shuffle(shuffled, new Random(9));
        for (MicroBatching cut : CUTS) {
            for (List<TrainingSequence> rows : List.of(rows(), shuffled)) {
                Outcome outcome = step(trained, rows, cut);
                assertThat(outcome.loss).isCloseTo(whole.loss, within(1e-6 * Math.max(1, Math.abs(whole.loss))));
                assertThat(norm(difference(outcome.gradient, whole.gradient))).isLessThan(1e-5 * norm(whole.gradient));
            }
        }
    }

    /** The rest of a response, as a row whose prompt is all that was before it: the model says the same about it. */
    private static List<TrainingSequence> segments(TrainingSequence row) {
        int cut = row.responseIds().length / 2;
        return List.of(
                part(row, row.promptIds(), 0, cut),
                part(
                        row,
                        IntStream.concat(Arrays.stream(row.promptIds()), Arrays.stream(row.responseIds(), 0, cut))
                                .toArray(),
                        cut,
                        row.responseIds().length));
    }

    private static TrainingSequence part(TrainingSequence row, int[] prompt, int start, int end) {
        return new TrainingSequence(
                row.id(),
                prompt,
                Arrays.copyOfRange(row.responseIds(), start, end),
                Arrays.copyOfRange(row.mask(), start, end),
                Arrays.copyOfRange(row.oldLogProbs(), start, end),
                Arrays.copyOfRange(row.refLogProbs(), start, end),
                Arrays.copyOfRange(row.advantages(), start, end),
                Arrays.copyOfRange(row.values(), start, end),
                Arrays.copyOfRange(row.returns(), start, end),
                null,
                null);
    }

    @ParameterizedTest
    @EnumSource(names = {"POLICY", "CRITIC"})
    void aTrajectoryInSegmentsCountsAsMuchAsInOnePiece(Trained trained) {
        Outcome whole = step(trained, rows(), WHOLE);
        List<TrainingSequence> segments =
                rows().stream().flatMap(row -> segments(row).stream()).toList();
        for (MicroBatching cut : List.of(WHOLE, MicroBatching.byRows(3))) {
            Outcome outcome = step(trained, segments, cut);
            assertThat(outcome.loss).isCloseTo(whole.loss, within(1e-6 * Math.max(1, Math.abs(whole.loss))));
            assertThat(norm(difference(outcome.gradient, whole.gradient))).isLessThan(1e-5 * norm(whole.gradient));
        }
    }

    @Test
    void rowsOfAPromptStayTogetherAsFarAsTheBudgetAllows() {
        List<TrainingSequence> rows = new ArrayList<>();
        for (int i = 0; i < 24; i++) {
            int[] prompt = {i % 4, 7, 7};
            rows.add(TrainingSequence.lesson("row " + i, prompt, new int[2 + i / 4], new boolean[2 + i / 4]));
        }
        int family = 6 * 3 + 2 + 3 + 4 + 5 + 6 + 7;
        assertThat(MicroBatching.byTokens(2 * family).plan(rows))
                .hasSize(2)
                .allSatisfy(batch -> assertThat(promptsOf(batch)).hasSize(2));
        assertThat(MicroBatching.byTokens(family / 2 + 1).plan(rows))
                .hasSizeBetween(8, 12)
                .allSatisfy(batch -> assertThat(Arrays.stream(batch)
                                .map(i -> rows.get(i).length())
                                .sum())
                        .isLessThanOrEqualTo(family / 2 + 1))
                .allSatisfy(batch -> assertThat(promptsOf(batch)).hasSize(1));
        assertThat(MicroBatching.byTokens(family / 2 + 1).plan(rows).stream().flatMapToInt(Arrays::stream))
                .containsExactlyInAnyOrderElementsOf(
                        IntStream.range(0, 24).boxed().toList());
    }

    private static Set<Integer> promptsOf(int[] batch) {
        return Arrays.stream(batch).mapToObj(i -> i % 4).collect(Collectors.toSet());
    }

    @Test
    void aRowAboveTheTokenBudgetIsRefused() {
        int longest = IntStream.range(0, rows().size())
                .boxed()
                .max(Comparator.comparingInt(i -> rows().get(i).length()))
                .orElseThrow();
        int budget = rows().get(longest).length() - 1;
        assertThatThrownBy(() -> step(Trained.CRITIC, rows(), MicroBatching.byTokens(budget)))
                .isInstanceOfSatisfying(
                        OversizeSequenceException.class,
                        e -> assertThat(e.sequence()).isEqualTo(longest));
    }
}
