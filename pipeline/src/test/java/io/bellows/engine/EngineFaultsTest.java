package io.bellows.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bellows.model.GoldenModel;
import io.bellows.model.Weights;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EngineFaultsTest extends GoldenEngine {

    // -----------------------------------------------------------------------------------------

    @Test
    void whatCanNeverFitIsRefusedWithTheNumbers() {
        try (InferenceEngine engine = engine(2, 32, Admission.CONTINUOUS)) {
            assertThatThrownBy(() -> engine.submit(request(0, SamplingParams.greedy(111), 0)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("prompt of 18 tokens")
                    .hasMessageContaining("129")
                    .hasMessageContaining("128");
            assertThat(join(engine.submit(request(0, SamplingParams.greedy(110), 0)))
                            .get(0)
                            .ids())
                    .hasSize(110);
            assertThatThrownBy(() -> engine.submit(
                            new GenerationRequest(new int[] {3, 1024}, SamplingParams.greedy(1), new long[1])))
                    .hasMessageContaining("Invalid token 1024 at position 1");
            SamplingParams stop = new SamplingParams(1, -1, 1, 0, 4, new int[0], List.of("\n"));
            assertThatThrownBy(() -> engine.submit(request(0, stop, 0))).hasMessageContaining("stop strings");
        }
        assertThatThrownBy(() -> new GenerationRequest(new int[0], SamplingParams.greedy(1), new long[1]))
                .hasMessageContaining("0 tokens");
        EngineSettings tooLong = new EngineSettings(1, 513, 32, Admission.CONTINUOUS);
        assertThatThrownBy(() -> new InferenceEngine(kernels, weights, tooLong))
                .hasMessageContaining("513")
                .hasMessageContaining("512");
    }

    @ParameterizedTest
    @ValueSource(doubles = {-1, Double.NaN, Double.POSITIVE_INFINITY, 1e-60})
    void aTemperatureThatCannotBeUsedIsRefused(double temperature) {
        assertThatThrownBy(() -> SamplingParams.sampled(temperature, 1)).hasMessageContaining("Invalid temperature");
    }

    @Test
    void anAbortKeepsTheTokensSoFarAndACancelDropsThem() throws Exception {
        try (InferenceEngine engine = engine(3, 32, Admission.CONTINUOUS)) {
            SamplingParams sampling = SamplingParams.sampled(1.0, 100);
            List<CompletableFuture<Generation>> samples = engine.exclusively(() -> {
                List<List<CompletableFuture<Generation>>> both = engine.submitAll(
                        List.of(request(1, SamplingParams.sampled(1.0, 5), 0), request(0, sampling, 1, 2, 3, 4)));
                List<CompletableFuture<Generation>> submitted = both.get(1);
                Runnable ends = () -> {
                    engine.abort(submitted.get(0));
                    submitted.get(1).cancel(true);
                    engine.abort(submitted.get(3));
                };
                // On the engine's thread, between two steps
                assertThat(both.get(0).get(0).thenRun(ends)).isNotDone();
                return submitted;
            });
            Generation aborted = samples.get(0).join();
            assertThat(aborted.finishReason()).isEqualTo(FinishReason.ABORTED);
            assertThat(aborted.ids()).hasSize(5);
            assertThat(aborted.logProbs()).hasSize(5);
            assertThat(samples.get(3).join().finishReason()).isEqualTo(FinishReason.ABORTED);
            assertThat(samples.get(3).join().ids()).isEmpty();
            assertThatThrownBy(samples.get(1)::join).isInstanceOf(CancellationException.class);
            assertThat(samples.get(2).join().ids()).hasSize(100);
            assertThatThrownBy(() -> engine.abort(samples.get(2).thenApply(g -> g)))
                    .hasMessageContaining("Cannot abort");
        }
    }

    @Test
    void aTextDecoderThatFailsEndsItsSampleOnly() {
        IntFunction<String> broken = id -> {
            throw new IllegalStateException("no such token");
        };
        EngineSettings settings = new EngineSettings(2, 64, 64, Admission.CONTINUOUS);
        try (InferenceEngine engine = new InferenceEngine(kernels, weights, settings, () -> broken)) {
            SamplingParams sampling = new SamplingParams(0, -1, 1, 0, 24, new int[0], List.of("x"));
            assertThatThrownBy(engine.submit(request(1, sampling, 0)).get(0)::join)
                    .hasCauseInstanceOf(GenerationException.class)
                    .hasMessageContaining("Cannot decode token 360");
            assertThat(join(engine.submit(request(1, SamplingParams.greedy(2), 0)))
                            .get(0)
                            .ids())
                    .containsExactly(360, 75);
        }
    }

    @Test
    void rowsWithDifferentParametersShareAStep() throws Exception {
        try (InferenceEngine engine = engine(8, 64, Admission.CONTINUOUS)) {
            List<SamplingParams> each = List.of(
                    SamplingParams.greedy(12),
                    SamplingParams.sampled(1.0, 12),
                    new SamplingParams(1.0, 3, 1, 0, 12, new int[0], List.of()),
                    new SamplingParams(2.0, 2000, 0.8, 0.01, 12, new int[0], List.of()));
            List<Generation> alone = each.stream()
                    .map(sampling ->
                            join(engine.submit(request(2, sampling, 5))).get(0))
                    .toList();
            List<Generation> together = joinAll(engine.submitAll(
                    each.stream().map(sampling -> request(2, sampling, 5)).toList()));
            for (int i = 0; i < each.size(); i++) {
                assertThat(together.get(i).ids()).isEqualTo(alone.get(i).ids());
            }
        }
    }

    @Test
    void logitsThatAreNotFiniteFailTheirRequestAndNothingAfterIt() {
        try (Weights own = Weights.load(kernels, GoldenModel.named("qwen2").folder());
                InferenceEngine engine =
                        new InferenceEngine(kernels, own, new EngineSettings(2, 64, 32, Admission.CONTINUOUS))) {
            var norm = own.parameters().get("model.norm.weight");
            float[] good = norm.toFloatArray();
            float[] bad = good.clone();
            bad[3] = Float.NaN;
            norm.set(bad);
            for (CompletableFuture<Generation> future :
                    engine.submit(request(0, SamplingParams.sampled(1, 4), 1, 2, 3))) {
                assertThatThrownBy(future::join)
                        .isInstanceOf(CompletionException.class)
                        .hasCauseInstanceOf(GenerationException.class)
                        .hasMessageContaining("not finite");
            }
            norm.set(good);
            assertThat(join(engine.submit(request(1, SamplingParams.greedy(3), 0)))
                            .get(0)
                            .ids())
                    .containsExactly(360, 75, 245);
        }
    }

    @Test
    void closingFailsWhatIsPendingAndWhatComesLater() {
        InferenceEngine engine = engine(1, 32, Admission.ORDERED);
        List<CompletableFuture<Generation>> pending = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            pending.addAll(engine.submit(request(0, SamplingParams.sampled(1, 100), i)));
        }
        engine.close();
        engine.close();
        CompletableFuture<Generation> later =
                engine.submit(request(0, SamplingParams.greedy(1), 0)).get(0);
        for (CompletableFuture<Generation> future : List.of(pending.get(49), later)) {
            assertThat(future).isCompletedExceptionally();
            assertThatThrownBy(future::join).hasMessageContaining("the engine is closed");
        }
        assertThat(pending).allMatch(CompletableFuture::isDone);
    }
}
