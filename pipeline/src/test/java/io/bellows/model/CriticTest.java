package io.bellows.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.bellows.model.PackedSequences.Sequence;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A decoder with a value head: what it says, its gradients, and its folder. */
class CriticTest {

    private static final GoldenModel POLICY = GoldenModel.named("qwen2");
    private static final String EMBEDDING = "model.embed_tokens.weight";

    private static Kernels kernels;

    private Weights critic;
    private Decoder decoder;

    @TempDir
    private Path folder;

    @BeforeAll
    static void load() {
        kernels = Kernels.load(Device.cpu());
    }

    @AfterAll
    static void close() {
        kernels.close();
    }

    @BeforeEach
    void fromThePolicy() {
        critic = Weights.load(kernels, POLICY.folder(), Head.VALUE, ComputeType.FLOAT32);
        decoder = new Decoder(kernels, critic.config(), 64);
    }

    @AfterEach
    void closeCritic() {
        decoder.close();
        critic.close();
    }

    private static PackedSequences sequences() {
        return PackedSequences.of(List.of(
                new Sequence(POLICY.rows("right").get(0), 9),
                new Sequence(POLICY.rows("right").get(1), 5)));
    }

    private void setHead(float[] weight, float bias) {
        critic.parameters().get("score.weight").set(weight);
        critic.parameters().get("score.bias").set(new float[] {bias});
    }

    private static float[] random(int size) {
        float[] values = new float[size];
        java.util.Random random = new java.util.Random(7);
        for (int i = 0; i < size; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return values;
    }

    @Test
    void aCriticFromAFolderWithoutAValueHeadSaysZero() {
        assertThat(decoder.values(critic, sequences()))
                .hasSize(sequences().targets().length)
                .containsOnly(0f);
    }

    /** The logits of two tokens differ by what their log-probs differ by, and the difference of two rows of the head is a head. */
    @Test
    void theValueOfATokenComesFromTheHiddenStateThatPredictsIt() {
        int hidden = critic.config().hiddenSize();
        try (Weights policy = Weights.load(kernels, POLICY.folder())) {
            float[] rows = policy.head().toFloatArray();
            float[] difference = new float[hidden];
            for (int i = 0; i < hidden; i++) {
                difference[i] = rows[17 * hidden + i] - rows[3 * hidden + i];
            }
            setHead(difference, 0.25f);
            float[] first = logProbs(policy, 17);
            float[] second = logProbs(policy, 3);
            float[] values = decoder.values(critic, sequences());
            for (int i = 0; i < values.length; i++) {
                assertThat((double) values[i]).isCloseTo(first[i] - second[i] + 0.25, within(1e-3));
            }
        }
    }

    private float[] logProbs(Weights policy, int token) {
        PackedSequences asked = sequences();
        int[] targets = new int[asked.targets().length];
        Arrays.fill(targets, token);
        return decoder.score(
                        policy,
                        new PackedSequences(
                                asked.ids(), asked.positions(), asked.runs(), asked.prompts(), asked.rows(), targets),
                        1)
                .logProbs();
    }

    @Test
    void aValueDependsOnTheTokensBeforeOnly() {
        setHead(random(critic.config().hiddenSize()), 0);
        int[] ids = POLICY.rows("right").get(0).clone();
        float[] before = decoder.values(critic, PackedSequences.of(List.of(new Sequence(ids, 4))));
        ids[7] = (ids[7] + 1) % critic.config().vocabularySize();
        float[] after = decoder.values(critic, PackedSequences.of(List.of(new Sequence(ids, 4))));
        for (int t = 0; t <= 3; t++) {
            assertThat(after[t]).as("before token %d", t + 4).isEqualTo(before[t]);
        }
        assertThat(after[4]).as("before token 8").isNotEqualTo(before[4]);
    }

    @ParameterizedTest
    @ValueSource(strings = {"score.weight", "score.bias", "model.norm.weight", "model.layers.0.mlp.up_proj.weight"})
    void gradientsEqualFiniteDifferences(String name) {
        setHead(random(critic.config().hiddenSize()), 0.5f);
        float[] factors = random(sequences().targets().length);
        NDArray parameter = critic.parameters().get(name);
        float[] original = parameter.toFloatArray();
        float[] gradient;
        try (Gradients gradients = Gradients.of(kernels, critic)) {
            try (ValuePass pass = decoder.forwardValues(critic, sequences())) {
                assertThat(pass.values()).isEqualTo(decoder.values(critic, sequences()));
                pass.backward(gradients, factors);
            }
            gradient = gradients.of(parameter).toFloatArray();
        }
        float step = 1e-2f;
        for (int i = 0; i < Math.min(3, original.length); i++) {
            double slope =
                    (weighted(parameter, original, i, step, factors) - weighted(parameter, original, i, -step, factors))
                            / (2 * step);
            assertThat((double) gradient[i]).isCloseTo(slope, within(5e-3 * Math.max(1, Math.abs(slope))));
        }
    }

    private double weighted(NDArray parameter, float[] original, int index, float step, float[] factors) {
        float[] moved = original.clone();
        moved[index] += step;
        parameter.set(moved);
        float[] values = decoder.values(critic, sequences());
        double sum = 0;
        for (int i = 0; i < values.length; i++) {
            sum += factors[i] * values[i];
        }
        return sum;
    }

    @ParameterizedTest
    @ValueSource(strings = {"qwen2", "qwen2_bf16"})
    void aSavedCriticIsAFolderForTokenClassificationAndReadsBack(String name) throws IOException {
        Path source = GoldenModel.named(name).folder();
        Path first = folder.resolve("first");
        Path second = folder.resolve("second");
        try (Weights saved = Weights.load(kernels, source, Head.VALUE, ComputeType.FLOAT32)) {
            float[] exact = new float[saved.config().hiddenSize()];
            Arrays.fill(exact, 0.5f); // exact in bf16 too
            saved.parameters().get("score.weight").set(exact);
            ModelFolder.saveCritic(source, first, saved);
        }
        try (Weights read = Weights.load(kernels, first, Head.VALUE, ComputeType.FLOAT32)) {
            assertThat(read.parameters().get("score.weight").toFloatArray()).containsOnly(0.5f);
            assertThat(read.parameters().get("score.bias").toFloatArray()).containsExactly(0f);
            ModelFolder.saveCritic(first, second, read);
        }
        SafeTensorsFile before = SafeTensorsFile.open(source.resolve("model.safetensors"));
        SafeTensorsFile after = SafeTensorsFile.open(first.resolve("model.safetensors"));
        assertThat(after.entries().keySet())
                .contains("score.weight", "score.bias")
                .doesNotContain("lm_head.weight");
        assertThat(after.entries().get("score.weight").shape()).containsExactly(1, 64);
        assertThat(after.entries().get(EMBEDDING).type())
                .isEqualTo(before.entries().get(EMBEDDING).type());
        assertThat(after.map(EMBEDDING)).isEqualTo(before.map(EMBEDDING));
        assertThat(second.resolve("model.safetensors")).hasSameBinaryContentAs(first.resolve("model.safetensors"));
        assertThat(second.resolve("config.json")).hasSameBinaryContentAs(first.resolve("config.json"));
        JsonNode config = new ObjectMapper().readTree(Files.readString(first.resolve("config.json")));
        assertThat(config.path("architectures").toString()).isEqualTo("[\"Qwen2ForTokenClassification\"]");
        assertThat(config.path("id2label")).hasSize(1);
        assertThat(first.resolve("tokenizer.json")).exists();
    }
}
