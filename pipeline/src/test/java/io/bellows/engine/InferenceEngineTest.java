package io.bellows.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.bellows.model.Decoder;
import io.bellows.model.GoldenModel;
import io.bellows.model.PackedSequences;
import io.bellows.model.PackedSequences.Sequence;
import io.bellows.model.TokenScores;
import io.bellows.model.Weights;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class InferenceEngineTest extends GoldenEngine {

    private static final double TOLERANCE = 1e-5;

    // ---- values
    // ------------------------------------------------------------------------------------------------------

    @ParameterizedTest
    @CsvSource({
        "qwen2, 4, 256",
        "qwen2, 1, 256",
        "qwen2, 3, 7",
        "qwen2, 4, 1",
        "qwen2_bf16, 4, 256",
        "qwen2_bf16, 2, 5",
        "qwen3, 4, 256",
        "qwen3, 3, 7",
        "llama, 4, 256",
        "llama, 3, 7",
        "mistral, 4, 256",
        "mistral_swa, 4, 256",
        "mistral_swa, 3, 7",
        "mistral_swa, 2, 1"
    })
    void greedyEqualsTransformersForAnySlotsAndChunk(String name, int slots, int prefillChunk) {
        GoldenModel golden = GoldenModel.named(name);
        EngineSettings settings = new EngineSettings(slots, 64, prefillChunk, Admission.CONTINUOUS);
        try (Weights own = Weights.load(kernels, golden.folder());
                InferenceEngine engine = new InferenceEngine(kernels, own, settings)) {
            List<Generation> generations = joinAll(engine.submitAll(IntStream.range(0, 4)
                    .mapToObj(i -> new GenerationRequest(
                            ints(golden, "prompts", i), SamplingParams.greedy(24), new long[] {i}))
                    .toList()));
            for (int i = 0; i < 4; i++) {
                assertThat(generations.get(i).ids()).isEqualTo(ints(golden, "new_ids", i));
                assertThat(generations.get(i).finishReason()).isEqualTo(FinishReason.LENGTH);
                for (int t = 0; t < 24; t++) {
                    assertThat((double) generations.get(i).logProbs()[t])
                            .isCloseTo(
                                    golden.values()
                                            .path("greedy")
                                            .path("logprobs")
                                            .get(i)
                                            .get(t)
                                            .asDouble(),
                                    within(1e-4));
                }
            }
        }
    }

    @Test
    void logProbsEqualTheScoresOfTheTrainerAtTheSamplingTemperature() {
        SamplingParams filtered = new SamplingParams(0.7, 20, 0.9, 0.01, 30, new int[0], List.of());
        for (SamplingParams sampling : List.of(SamplingParams.sampled(1.3, 30), filtered)) {
            try (InferenceEngine engine = engine(5, 16, Admission.CONTINUOUS);
                    Decoder decoder = new Decoder(kernels, weights.config(), 128)) {
                List<Generation> generations = joinAll(engine.submitAll(
                        List.of(request(0, sampling, 1, 2, 3), request(1, sampling, 4, 5), request(3, sampling, 6))));
                for (int i = 0; i < generations.size(); i++) {
                    int[] prompt = prompts.get(i < 3 ? 0 : i < 5 ? 1 : 3);
                    int[] ids = IntStream.concat(
                                    IntStream.of(prompt),
                                    IntStream.of(generations.get(i).ids()))
                            .toArray();
                    TokenScores scores = decoder.score(
                            weights,
                            PackedSequences.of(List.of(new Sequence(ids, prompt.length))),
                            sampling.temperature());
                    assertThat(generations.get(i).logProbs()).hasSameSizeAs(scores.logProbs());
                    for (int t = 0; t < scores.logProbs().length; t++) {
                        assertThat((double) generations.get(i).logProbs()[t])
                                .isCloseTo(
                                        (double) scores.logProbs()[t], within(TOLERANCE * (1 - scores.logProbs()[t])));
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"mistral_swa, 256", "mistral_swa, 5", "mistral_swa, 1", "qwen3, 5", "llama, 5"})
    void groupsFarBeyondTheWindowEqualTheScores(String name, int prefillChunk) {
        int[] prompt = IntStream.range(0, 45).map(i -> (7 * i + 3) % 1000).toArray();
        EngineSettings settings = new EngineSettings(3, 128, prefillChunk, Admission.CONTINUOUS);
        try (Weights own = Weights.load(kernels, GoldenModel.named(name).folder());
                Decoder decoder = new Decoder(kernels, own.config(), 128);
                InferenceEngine engine = new InferenceEngine(kernels, own, settings)) {
            GenerationRequest request =
                    new GenerationRequest(prompt, SamplingParams.sampled(1.0, 60), new long[] {1, 2, 3, 4});
            for (Generation generation : join(engine.submit(request))) {
                int[] ids = IntStream.concat(IntStream.of(prompt), IntStream.of(generation.ids()))
                        .toArray();
                float[] expected = decoder.score(
                                own, PackedSequences.of(List.of(new Sequence(ids, prompt.length))), 1.0)
                        .logProbs();
                assertThat(generation.logProbs()).hasSize(60);
                for (int t = 0; t < 60; t++) {
                    assertThat((double) generation.logProbs()[t])
                            .isCloseTo((double) expected[t], within(TOLERANCE * (1 - expected[t])));
                }
            }
        }
    }

    @Test
    void samplesFollowTheDistribution() {
        int draws = 4000;
        double[] expected = distribution(1, 2.0);
        int[] counts = firstTokens(1, SamplingParams.sampled(2.0, 1), draws);
        double statistic = 0;
        int cells = 0;
        double restExpected = draws;
        int restCount = draws;
        for (int id = 0; id < expected.length; id++) {
            if (expected[id] * draws >= 5) {
                statistic += Math.pow(counts[id] - expected[id] * draws, 2) / (expected[id] * draws);
                restExpected -= expected[id] * draws;
                restCount -= counts[id];
                cells++;
            }
            assertThat(counts[id] == 0 || expected[id] > 0).isTrue();
        }
        statistic += Math.pow(restCount - restExpected, 2) / restExpected;
        assertThat(cells).isGreaterThan(20);
        assertThat(statistic).isLessThan(cells + 4 * Math.sqrt(2.0 * cells)); // mean and four deviations of chi-square
    }

    @Test
    void filtersNeverLeaveTheirSetAndReachAllOfIt() {
        double[] p = distribution(2, 2.0);
        int[] order = IntStream.range(0, p.length)
                .boxed()
                .sorted((a, b) -> Double.compare(p[b], p[a]))
                .mapToInt(Integer::intValue)
                .toArray();
        int nucleus = 0;
        for (double mass = 0; mass < 0.5; mass += p[order[nucleus++]]) {
            // counts the likeliest tokens that together reach one half
        }
        int above = (int)
                IntStream.of(order).filter(id -> p[id] >= 0.3 * p[order[0]]).count();
        assertThat(drawnRanks(order, 5, 1, 0)).isEqualTo(5);
        assertThat(drawnRanks(order, -1, 0.5, 0)).isEqualTo(nucleus);
        assertThat(drawnRanks(order, -1, 1, 0.3)).isEqualTo(above);
        assertThat(drawnRanks(order, 1, 1, 0)).isEqualTo(1);
        assertThat(drawnRanks(order, -1, 1e-9, 0)).isEqualTo(1);
        assertThat(drawnRanks(order, -1, 1, 1)).isEqualTo(1);
        assertThat(drawnRanks(order, 3, 0.999, 0.0001)).isEqualTo(3);
    }

    /** How many of the likeliest tokens are drawn in many draws, each of which must occur. */
    private static int drawnRanks(int[] order, int topK, double topP, double minP) {
        int[] counts = firstTokens(2, new SamplingParams(2.0, topK, topP, minP, 1, new int[0], List.of()), 3000);
        int last = -1;
        for (int rank = 0; rank < order.length; rank++) {
            if (counts[order[rank]] > 0) {
                assertThat(rank).as("ranks are drawn without a gap").isEqualTo(last + 1);
                last = rank;
            }
        }
        return last + 1;
    }

    private static int[] firstTokens(int prompt, SamplingParams sampling, int draws) {
        int[] counts = new int[weights.config().vocabularySize()];
        try (InferenceEngine engine = engine(64, 64, Admission.CONTINUOUS)) {
            long[] seeds = LongStream.range(0, draws).toArray();
            join(engine.submit(request(prompt, sampling, seeds))).forEach(g -> counts[g.ids()[0]]++);
            assertThat(engine.stats().promptTokens()).isEqualTo(prompts.get(prompt).length);
        }
        return counts;
    }

    /** Probabilities after a prompt, from the trainer's scores of every continuation. */
    private static double[] distribution(int prompt, double temperature) {
        int[] ids = prompts.get(prompt);
        List<Sequence> sequences = new ArrayList<>();
        for (int id = 0; id < weights.config().vocabularySize(); id++) {
            int[] continued = Arrays.copyOf(ids, ids.length + 1);
            continued[ids.length] = id;
            sequences.add(new Sequence(continued, ids.length));
        }
        try (Decoder decoder = new Decoder(kernels, weights.config(), 64)) {
            float[] logProbs = decoder.score(weights, PackedSequences.of(sequences), temperature)
                    .logProbs();
            return IntStream.range(0, logProbs.length)
                    .mapToDouble(i -> Math.exp(logProbs[i]))
                    .toArray();
        }
    }

    // ---- repeatability
    // -----------------------------------------------------------------------------------------------

    @Test
    void aSampleDoesNotDependOnItsNeighbours() {
        SamplingParams sampling = SamplingParams.sampled(1.0, 40);
        try (InferenceEngine engine = engine(8, 32, Admission.CONTINUOUS)) {
            List<Generation> alone = new ArrayList<>();
            for (long seed = 0; seed < 6; seed++) {
                alone.add(join(engine.submit(request(1, sampling, seed))).get(0));
            }
            engine.submit(request(0, SamplingParams.sampled(2.0, 70), 91, 92, 93));
            List<Generation> among = join(engine.submit(request(1, sampling, 0, 1, 2, 3, 4, 5)));
            for (int i = 0; i < 6; i++) {
                assertThat(among.get(i).ids()).isEqualTo(alone.get(i).ids());
                for (int t = 0; t < 40; t++) {
                    double logProb = alone.get(i).logProbs()[t];
                    assertThat((double) among.get(i).logProbs()[t])
                            .isCloseTo(logProb, within(TOLERANCE * (1 - logProb)));
                }
            }
        }
    }

    @Test
    void anOrderedBatchIsBitExactWhateverWasGeneratedBefore() {
        SamplingParams some = SamplingParams.sampled(1.0, 50, 1023, 898, 7);
        List<GenerationRequest> batch = List.of(
                request(0, some, 1, 2, 3), request(1, some, 4, 5, 6), request(2, some, 7, 8, 9), request(3, some, 10));
        List<Generation> first;
        try (InferenceEngine engine = engine(4, 10, Admission.ORDERED)) {
            first = joinAll(engine.submitAll(batch));
        }
        try (InferenceEngine engine = engine(4, 10, Admission.ORDERED)) {
            List<List<CompletableFuture<Generation>>> before = engine.submitAll(
                    List.of(request(3, SamplingParams.sampled(3.0, 100), 5, 6), request(0, some, 21, 22, 23, 24, 25)));
            List<List<CompletableFuture<Generation>>> again = engine.submitAll(batch);
            List<List<CompletableFuture<Generation>>> after = engine.submitAll(batch);
            joinAll(before);
            assertSameBits(joinAll(again), first);
            assertSameBits(joinAll(after), first);
        }
    }

    private static void assertSameBits(List<Generation> actual, List<Generation> expected) {
        assertThat(actual).hasSameSizeAs(expected);
        for (int i = 0; i < actual.size(); i++) {
            assertThat(actual.get(i).ids()).isEqualTo(expected.get(i).ids());
            assertThat(actual.get(i).logProbs()).isEqualTo(expected.get(i).logProbs());
        }
    }

    // ---- ends
    // --------------------------------------------------------------------------------------------------------

    @Test
    void aStopIdEndsAndIsKept() {
        GoldenModel golden = GoldenModel.named("qwen2");
        int[] expected = Arrays.copyOf(ints(golden, "new_ids", 1), 5);
        try (InferenceEngine engine = engine(2, 32, Admission.CONTINUOUS)) {
            Generation generation = join(engine.submit(request(1, SamplingParams.greedy(24, 5, 1023), 0)))
                    .get(0);
            assertThat(generation.ids()).isEqualTo(expected).endsWith(1023);
            assertThat(generation.logProbs()).hasSize(5);
            assertThat(generation.finishReason()).isEqualTo(FinishReason.STOP);
            assertThat(join(engine.submit(request(1, SamplingParams.greedy(24, 360), 0)))
                            .get(0)
                            .ids())
                    .containsExactly(360);
        }
    }

    @Test
    void aStopStringEndsAtTheTokenThatCompletesIt() {
        int[] greedy = ints(GoldenModel.named("qwen2"), "new_ids", 1); // 360 75 245 52 ...
        IntFunction<String> spelled = id -> "<" + id + ">";
        EngineSettings settings = new EngineSettings(2, 64, 64, Admission.CONTINUOUS);
        try (InferenceEngine engine = new InferenceEngine(kernels, weights, settings, () -> spelled)) {
            SamplingParams sampling = new SamplingParams(0, -1, 1, 0, 24, new int[0], List.of("no", "5><24"));
            Generation generation = join(engine.submit(request(1, sampling, 0))).get(0);
            assertThat(generation.ids()).isEqualTo(Arrays.copyOf(greedy, 3));
            assertThat(generation.finishReason()).isEqualTo(FinishReason.STOP);
        }
    }

    @Test
    void aGenerationRecordsTheVersionOfItsWeightsAndUpdatesRunBetweenSteps() throws Exception {
        try (InferenceEngine engine = engine(2, 32, Admission.CONTINUOUS)) {
            CompletableFuture<Generation> before =
                    engine.submit(request(0, SamplingParams.greedy(3), 0)).get(0);
            assertThat(before.join().weightsVersion()).isZero();
            long steps = engine.exclusively(() -> {
                engine.weightsVersion(7);
                CompletableFuture<Generation> during =
                        engine.submit(request(0, SamplingParams.greedy(3), 0)).get(0);
                assertThat(during).isNotDone();
                return engine.stats().steps();
            });
            assertThat(steps).isPositive();
            assertThat(join(engine.submit(request(0, SamplingParams.greedy(3), 0)))
                            .get(0)
                            .weightsVersion())
                    .isEqualTo(7);
        }
    }

    @ParameterizedTest
    @EnumSource(Admission.class)
    void manyMoreRequestsThanSlotsAllEnd(Admission admission) {
        SamplingParams sampling = SamplingParams.sampled(1.0, 6, 1023);
        try (InferenceEngine engine = engine(3, 11, admission)) {
            List<GenerationRequest> requests = IntStream.range(0, 60)
                    .mapToObj(i -> request(
                            i % 4, sampling, LongStream.range(0, 1 + i % 5).toArray()))
                    .toList();
            List<Generation> generations = joinAll(engine.submitAll(requests));
            assertThat(generations).hasSize(180).allSatisfy(g -> {
                assertThat(g.ids()).hasSizeBetween(1, 6);
                assertThat(g.ids()).hasSize(g.logProbs().length);
            });
            assertThat(engine.stats().promptTokens())
                    .isEqualTo(requests.stream()
                            .mapToLong(r -> r.promptIds().length)
                            .sum());
            assertThat(engine.stats().generatedTokens())
                    .isEqualTo(
                            generations.stream().mapToLong(g -> g.ids().length).sum());
        }
    }
}
