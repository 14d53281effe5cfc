package io.bellows.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import ai.djl.Device;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.model.PackedSequences.Sequence;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A vocabulary so large that the logits of a pass come in several chunks, the last of them a short one. */
class LogitsChunkTest {

    private static final int VOCABULARY = 1 << 20;
    private static final int TOKENS = 40;

    @TempDir
    private Path folder;

    /** What a pass over some tokens gives. */
    private record Passes(TokenScores scores, List<float[]> gradients) {}

    @Test
    void scoresAndGradientsAreThoseOfTheTokensTakenOneByOne() throws IOException {
        ModelConfig config = config();
        assertThat(Decoder.chunk(config)).isEqualTo(16);
        try (Kernels kernels = Kernels.load(Device.cpu());
                Weights weights = Weights.random(kernels, config, 1);
                Decoder decoder = new Decoder(kernels, config, 8)) {
            assertSameByChunks(kernels, weights, decoder, 0);
            assertSameByChunks(kernels, weights, decoder, 0.5f);
        }
    }

    private void assertSameByChunks(Kernels kernels, Weights weights, Decoder decoder, float dEntropy) {
        Passes chunked = pass(kernels, weights, decoder, List.of(all()), dEntropy);
        Passes single =
                pass(kernels, weights, decoder, all().stream().map(List::of).toList(), dEntropy);
        assertThat(chunked.scores.logProbs()).containsExactly(single.scores.logProbs(), within(1e-5f));
        assertThat(chunked.scores.entropies()).containsExactly(single.scores.entropies(), within(1e-4f));
        for (int i = 0; i < single.gradients.size(); i++) {
            float[] expected = single.gradients.get(i);
            float scale = (float) Math.sqrt(IntStream.range(0, expected.length)
                    .mapToDouble(j -> (double) expected[j] * expected[j])
                    .sum());
            float[] found = chunked.gradients.get(i);
            double difference = Math.sqrt(IntStream.range(0, expected.length)
                    .mapToDouble(j -> Math.pow(found[j] - expected[j], 2))
                    .sum());
            assertThat(difference).as("gradient %d", i).isLessThanOrEqualTo(1e-4 * scale);
        }
    }

    /** Scores the tokens of each part in a pass of its own, and adds the gradients up. */
    private static Passes pass(
            Kernels kernels, Weights weights, Decoder decoder, List<List<Sequence>> parts, float dEntropy) {
        float[] logProbs = new float[TOKENS];
        float[] entropies = new float[TOKENS];
        try (Gradients gradients = Gradients.of(kernels, weights)) {
            int at = 0;
            for (List<Sequence> part : parts) {
                try (ForwardPass pass = decoder.forward(weights, PackedSequences.of(part), 1)) {
                    TokenScores scores = pass.scores();
                    int count = scores.logProbs().length;
                    System.arraycopy(scores.logProbs(), 0, logProbs, at, count);
                    System.arraycopy(scores.entropies(), 0, entropies, at, count);
                    float[] dLogProbs = new float[count];
                    float[] dEntropies = new float[count];
                    for (int i = 0; i < count; i++) {
                        dLogProbs[i] = 1 + (at + i) % 3;
                    }
                    Arrays.fill(dEntropies, dEntropy);
                    pass.backward(gradients, dLogProbs, dEntropies);
                    at += count;
                }
            }
            return new Passes(
                    new TokenScores(logProbs, entropies, null),
                    gradients.tensors().stream()
                            .map(tensor -> tensor.toFloatArray())
                            .toList());
        }
    }

    private static List<Sequence> all() {
        return IntStream.range(0, TOKENS)
                .mapToObj(i -> new Sequence(new int[] {i, VOCABULARY - 1 - 7 * i}, 1))
                .toList();
    }

    private ModelConfig config() throws IOException {
        ObjectMapper json = new ObjectMapper();
        ObjectNode fields = (ObjectNode) json.readTree(
                GoldenModel.named("qwen2").folder().resolve("config.json").toFile());
        fields.put("vocab_size", VOCABULARY).put("hidden_size", 8).put("intermediate_size", 16);
        Path file = folder.resolve("config.json");
        json.writeValue(file.toFile(), fields);
        return ModelConfig.parse(file);
    }
}
