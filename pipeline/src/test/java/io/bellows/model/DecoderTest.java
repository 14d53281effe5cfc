package io.bellows.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.pytorch.engine.PtNDManager;
import com.fasterxml.jackson.databind.JsonNode;
import io.bellows.model.PackedSequences.Sequence;
import io.bellows.training.AdamW;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.assertj.core.data.Offset;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class DecoderTest {

    private static final Offset<Double> TOLERANCE = within(1e-4);

    private static Kernels kernels;

    @BeforeAll
    static void load() {
        kernels = Kernels.load(Device.cpu());
    }

    @AfterAll
    static void close() {
        kernels.close();
    }

    private static PackedSequences pack(List<int[]> rows) {
        return PackedSequences.of(rows.stream().map(ids -> new Sequence(ids, 1)).toList());
    }

    @ParameterizedTest
    @MethodSource("io.bellows.model.GoldenModel#names")
    void logProbsAndEntropiesEqualTransformers(String name) {
        GoldenModel golden = GoldenModel.named(name);
        try (Weights weights = Weights.load(kernels, golden.folder());
                Decoder decoder = new Decoder(kernels, weights.config(), 64)) {
            List<int[]> rows = golden.rows("right");
            TokenScores scores = decoder.score(weights, pack(rows), 1.0);
            List<Double> logProbs = new ArrayList<>();
            List<Double> entropies = new ArrayList<>();
            for (int i = 0; i < rows.size(); i++) {
                logProbs.addAll(golden.tokens("right", "token_logprobs", i));
                entropies.addAll(golden.tokens("right", "entropy", i));
            }
            assertThat(scores.logProbs()).hasSize(logProbs.size());
            for (int i = 0; i < logProbs.size(); i++) {
                assertThat((double) scores.logProbs()[i]).isCloseTo(logProbs.get(i), TOLERANCE);
                assertThat((double) scores.entropies()[i]).isCloseTo(entropies.get(i), TOLERANCE);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("io.bellows.model.GoldenModel#names")
    void lastLogitsEqualTransformers(String name) {
        GoldenModel golden = GoldenModel.named(name);
        try (Weights weights = Weights.load(kernels, golden.folder());
                Decoder decoder = new Decoder(kernels, weights.config(), 64);
                PtNDManager scope = kernels.newManager()) {
            List<int[]> rows = golden.rows("left");
            for (JsonNode last : golden.values().path("left").path("last_logits")) {
                int[] ids = rows.get(last.path("row").asInt());
                int[] continued = Arrays.copyOf(ids, ids.length + 1); // any token: the state before it is the last
                NDArray state = decoder.hidden(
                        scope, weights, PackedSequences.of(List.of(new Sequence(continued, ids.length))));
                float[] logits = state.matMul(weights.head().transpose()).toFloatArray();
                assertThat(logits).hasSize(1024);
                JsonNode expected = last.has("logits") ? last.path("logits") : last.path("first64");
                assertThat(expected).isNotEmpty();
                for (int id = 0; id < expected.size(); id++) {
                    assertThat((double) logits[id]).isCloseTo(expected.get(id).asDouble(), TOLERANCE);
                }
            }
        }
    }

    @Test
    void sumsOfSquaredProbabilitiesAreThoseOfTheLogits() {
        GoldenModel golden = GoldenModel.named("qwen2");
        try (Weights weights = Weights.load(kernels, golden.folder());
                Decoder decoder = new Decoder(kernels, weights.config(), 64);
                PtNDManager scope = kernels.newManager()) {
            PackedSequences rows = pack(golden.rows("right"));
            TokenScores scores = decoder.scoreWithSquares(weights, rows, 0.7);
            NDArray probabilities = decoder.hidden(scope, weights, rows)
                    .matMul(weights.head().transpose())
                    .div(0.7f)
                    .softmax(-1);
            float[] expected =
                    probabilities.mul(probabilities).sum(new int[] {1}).toFloatArray();
            assertThat(scores.squaredProbabilities()).hasSameSizeAs(scores.logProbs());
            assertThat(scores.squaredProbabilities()).containsExactly(expected, within(1e-5f));
            assertThat(decoder.score(weights, rows, 0.7).logProbs()).isEqualTo(scores.logProbs());
            assertThat(decoder.score(weights, rows, 0.7).squaredProbabilities()).isNull();
        }
    }

    @ParameterizedTest
    @MethodSource("io.bellows.model.GoldenModel#names")
    void gradientsAndThreeAdamWStepsEqualTransformers(String name) {
        GoldenModel golden = GoldenModel.named(name);
        JsonNode train = golden.values().path("train");
        try (Weights weights = Weights.load(kernels, golden.folder());
                Decoder decoder = new Decoder(kernels, weights.config(), 64);
                Gradients gradients = Gradients.of(kernels, weights);
                AdamW optimizer = new AdamW(kernels, weights, new AdamW.Settings(0.9, 0.95, 1e-8, 0.01))) {
            PackedSequences sequences = pack(golden.rows("right"));
            assertThat(train.path("steps")).hasSize(3);
            for (int step = 0; step < 3; step++) {
                double loss = crossEntropy(decoder, weights, gradients, sequences);
                JsonNode expected = train.path("steps").get(step);
                assertThat(loss).isCloseTo(expected.path("loss").asDouble(), TOLERANCE);
                double norm = gradients.norm();
                assertThat(norm)
                        .isCloseTo(expected.path("grad_norm_before_clip").asDouble(), Percentage.withPercentage(0.01));
                if (step == 0) {
                    assertNorms(weights, gradients.tensors(), train.path("grads_step0_before_clip"), 1e-4);
                }
                gradients.scale(Math.min(1, 1 / (norm + 1e-6)));
                optimizer.step(gradients, 1e-3);
                gradients.zero();
            }
            // AdamW moves a weight whose gradient is next to nothing as far as any other: there float noise decides.
            assertNorms(weights, List.copyOf(weights.parameters().values()), train.path("params_after_3_steps"), 2e-4);
            double loss = crossEntropy(decoder, weights, gradients, sequences);
            assertThat(loss).isCloseTo(train.path("loss_after_3_steps").asDouble(), TOLERANCE);
        }
    }

    @ParameterizedTest
    @CsvSource({"qwen2, FLOAT32", "qwen3, FLOAT32", "mistral_swa, FLOAT32", "llama, BFLOAT16"})
    void recomputedActivationsGiveTheSameGradients(String name, ComputeType type) {
        GoldenModel golden = GoldenModel.named(name);
        List<float[]> kept = gradients(golden, type, Activations.KEEP);
        List<float[]> recomputed = gradients(golden, type, Activations.RECOMPUTE);
        assertThat(recomputed).hasSameSizeAs(kept).isNotEmpty();
        for (int i = 0; i < kept.size(); i++) {
            assertThat(distance(recomputed.get(i), kept.get(i))).isLessThan(1e-5 * norm(kept.get(i)));
        }
    }

    private static List<float[]> gradients(GoldenModel golden, ComputeType type, Activations activations) {
        try (Weights weights = Weights.load(kernels, golden.folder(), Head.TOKENS, type);
                Decoder decoder = new Decoder(kernels, weights.config(), 64, activations);
                Gradients gradients = Gradients.of(kernels, weights)) {
            crossEntropy(decoder, weights, gradients, pack(golden.rows("right")));
            return gradients.tensors().stream().map(NDArray::toFloatArray).toList();
        }
    }

    private static double distance(float[] a, float[] b) {
        float[] difference = new float[a.length];
        for (int i = 0; i < a.length; i++) {
            difference[i] = a[i] - b[i];
        }
        return norm(difference);
    }

    private static double norm(float[] values) {
        double squares = 0;
        for (float value : values) {
            squares += (double) value * value;
        }
        return Math.sqrt(squares);
    }

    @Test
    void inBfloat16ScoresAndGradientsStayNearThoseInFp32() {
        GoldenModel golden = GoldenModel.named("qwen2_bf16");
        try (Weights weights = Weights.load(kernels, golden.folder(), Head.TOKENS, ComputeType.BFLOAT16);
                Decoder decoder = new Decoder(kernels, weights.config(), 64)) {
            List<int[]> rows = golden.rows("right");
            TokenScores scores = decoder.score(weights, pack(rows), 1.0);
            int at = 0;
            for (int row = 0; row < rows.size(); row++) {
                for (double expected : golden.tokens("right", "token_logprobs", row)) {
                    // bf16 has eight bits: two to three digits of a logit
                    assertThat((double) scores.logProbs()[at++]).isCloseTo(expected, within(2e-2 * (1 - expected)));
                }
            }
            assertThat(at).isEqualTo(scores.logProbs().length).isPositive();
        }
        List<float[]> single = gradients(golden, ComputeType.FLOAT32, Activations.KEEP);
        List<float[]> half = gradients(golden, ComputeType.BFLOAT16, Activations.KEEP);
        for (int i = 0; i < single.size(); i++) {
            assertThat(distance(half.get(i), single.get(i))).isLessThan(0.1 * norm(single.get(i)));
            assertThat(half.get(i)).isNotEqualTo(single.get(i));
        }
    }

    @Test
    void inBfloat16AStepReachesTheCopiesThatScoringUses() {
        GoldenModel golden = GoldenModel.named("qwen2_bf16");
        PackedSequences sequences = pack(golden.rows("right"));
        try (Weights weights = Weights.load(kernels, golden.folder(), Head.TOKENS, ComputeType.BFLOAT16);
                Decoder decoder = new Decoder(kernels, weights.config(), 64);
                Gradients gradients = Gradients.of(kernels, weights);
                AdamW optimizer = new AdamW(kernels, weights, new AdamW.Settings(0.9, 0.95, 1e-8, 0.01))) {
            double before = crossEntropy(decoder, weights, gradients, sequences);
            optimizer.step(gradients, 1e-2);
            double after = 0;
            for (float logProb : decoder.score(weights, sequences, 1.0).logProbs()) {
                after -= logProb / sequences.targets().length;
            }
            assertThat(after).isLessThan(before - 1);
        }
    }

    /** Mean negative log-likelihood over all targets; adds its gradient. */
    private static double crossEntropy(
            Decoder decoder, Weights weights, Gradients gradients, PackedSequences sequences) {
        try (ForwardPass pass = decoder.forward(weights, sequences, 1.0)) {
            float[] logProbs = pass.scores().logProbs();
            float[] dLogProb = new float[logProbs.length];
            Arrays.fill(dLogProb, -1f / logProbs.length);
            pass.backward(gradients, dLogProb, new float[logProbs.length]);
            double sum = 0;
            for (float logProb : logProbs) {
                sum -= logProb;
            }
            return sum / logProbs.length;
        }
    }

    private static void assertNorms(Weights weights, List<NDArray> tensors, JsonNode expected, double tolerance) {
        int i = 0;
        for (String name : weights.parameters().keySet()) {
            double squares = 0;
            double sum = 0;
            for (float value : tensors.get(i++).toFloatArray()) {
                squares += (double) value * value;
                sum += value;
            }
            double norm = expected.path(name).path("norm").asDouble();
            assertThat(Math.sqrt(squares)).as(name).isCloseTo(norm, Percentage.withPercentage(0.01));
            assertThat(sum).as(name).isCloseTo(expected.path(name).path("sum").asDouble(), within(tolerance * norm));
        }
    }

    @Test
    void entropyAndTemperatureGradientsEqualFiniteDifferences() {
        GoldenModel golden = GoldenModel.named("qwen2");
        try (Weights weights = Weights.load(kernels, golden.folder());
                Decoder decoder = new Decoder(kernels, weights.config(), 64);
                Gradients gradients = Gradients.of(kernels, weights)) {
            PackedSequences sequences = PackedSequences.of(List.of(
                    new Sequence(golden.rows("right").get(0), 9),
                    new Sequence(golden.rows("right").get(1), 5)));
            double temperature = 5;
            try (ForwardPass pass = decoder.forward(weights, sequences, temperature)) {
                float[] dLogProb = new float[sequences.targets().length];
                float[] dEntropy = new float[dLogProb.length];
                Arrays.fill(dLogProb, 0.3f);
                Arrays.fill(dEntropy, 0.7f);
                pass.backward(gradients, dLogProb, dEntropy);
            }
            NDArray norm = weights.parameters().get("model.norm.weight");
            int index = List.copyOf(weights.parameters().keySet()).indexOf("model.norm.weight");
            float[] gradient = gradients.tensors().get(index).toFloatArray();
            float[] original = norm.toFloatArray();
            for (int i = 0; i < 4; i++) {
                double step = 1e-2;
                double up = objective(decoder, weights, norm, moved(original, i, step), sequences, temperature);
                double down = objective(decoder, weights, norm, moved(original, i, -step), sequences, temperature);
                assertThat((double) gradient[i]).isCloseTo((up - down) / (2 * step), within(5e-3));
            }
        }
    }

    private static float[] moved(float[] values, int index, double step) {
        float[] moved = values.clone();
        moved[index] += (float) step;
        return moved;
    }

    private static double objective(
            Decoder decoder,
            Weights weights,
            NDArray parameter,
            float[] values,
            PackedSequences sequences,
            double temperature) {
        parameter.set(values);
        TokenScores scores = decoder.score(weights, sequences, temperature);
        double sum = 0;
        for (int i = 0; i < scores.logProbs().length; i++) {
            sum += 0.3 * scores.logProbs()[i] + 0.7 * scores.entropies()[i];
        }
        return sum;
    }
}
