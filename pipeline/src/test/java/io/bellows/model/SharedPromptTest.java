package io.bellows.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import io.bellows.model.PackedSequences.Sequence;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A batch in which sequences share prompts says what each of them says alone, forward and backward. */
class SharedPromptTest {

    private static final double TEMPERATURE = 0.7;

    private static Kernels kernels;

    /** What sequences say, one after the other, and the sum of their gradients. */
    private record Outcome(List<Float> logProbs, List<Float> entropies, List<float[]> gradients) {}

    @BeforeAll
    static void load() {
        kernels = Kernels.load(Device.cpu());
    }

    @AfterAll
    static void close() {
        kernels.close();
    }

    /**
     * Prompts of 30 tokens, longer than a sliding window, of 5, of which one is the beginning of another, and of 1; responses of 1 to 20;
     * samples of a prompt apart from each other; prompts with one sample.
     */
    private static List<Sequence> sequences() {
        Random random = new Random(11);
        int[] longPrompt = tokens(random, 30);
        int[] beginning = Arrays.copyOf(longPrompt, 5);
        List<Sequence> sequences = new ArrayList<>();
        for (int response : new int[] {1, 6, 20, 6}) {
            sequences.add(sequence(random, longPrompt, response));
            sequences.add(sequence(random, beginning, response));
            sequences.add(sequence(random, new int[] {3}, response));
            sequences.add(sequence(random, tokens(random, 5), response));
        }
        sequences.add(sequence(random, beginning, 0));
        sequences.add(sequence(random, new int[] {4}, 1));
        return sequences;
    }

    private static Sequence sequence(Random random, int[] prompt, int response) {
        int[] ids = IntStream.concat(Arrays.stream(prompt), Arrays.stream(tokens(random, response)))
                .toArray();
        return new Sequence(ids, prompt.length);
    }

    private static int[] tokens(Random random, int count) {
        return random.ints(count, 0, 1000).toArray();
    }

    @Test
    void aSharedPromptIsOnTheAxisOnce() {
        PackedSequences packed = PackedSequences.of(sequences());

        int shared = 30 + 5 + 1;
        int responses = 3 * (1 + 6 + 20 + 6);
        int alone = 4 * 5 + (1 + 6 + 20 + 6) + 1 + 1;
        assertThat(packed.ids()).hasSize(shared + responses + alone);
        assertThat(packed.longest()).isEqualTo(50);
    }

    @ParameterizedTest
    @MethodSource("io.bellows.model.GoldenModel#names")
    void logProbsEntropiesAndGradientsAreThoseOfTheSequencesAlone(String name) {
        assertSame(name, Activations.KEEP);
    }

    @Test
    void andWithActivationsRecomputed() {
        assertSame("mistral_swa", Activations.RECOMPUTE);
    }

    private static void assertSame(String name, Activations activations) {
        List<Sequence> sequences = sequences();
        Outcome together = pass(name, activations, List.of(sequences));
        Outcome alone = pass(
                name,
                activations,
                sequences.stream()
                        .filter(sequence -> sequence.scored() > 0)
                        .map(List::of)
                        .toList());
        assertThat(together.logProbs).hasSameSizeAs(alone.logProbs).hasSizeGreaterThan(100);
        for (int i = 0; i < alone.logProbs.size(); i++) {
            assertThat(together.logProbs.get(i)).isCloseTo(alone.logProbs.get(i), within(1e-5f));
            assertThat(together.entropies.get(i)).isCloseTo(alone.entropies.get(i), within(1e-5f));
        }
        for (int i = 0; i < alone.gradients.size(); i++) {
            float[] difference = alone.gradients.get(i).clone();
            for (int j = 0; j < difference.length; j++) {
                difference[j] -= together.gradients.get(i)[j];
            }
            assertThat(norm(difference)).isLessThan(1e-5 * norm(alone.gradients.get(i)));
        }
    }

    private static Outcome pass(String name, Activations activations, List<List<Sequence>> batches) {
        Random random = new Random(5);
        Outcome outcome = new Outcome(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        try (Weights weights = Weights.load(kernels, GoldenModel.named(name).folder());
                Decoder decoder = new Decoder(kernels, weights.config(), 64, activations);
                Gradients gradients = Gradients.of(kernels, weights)) {
            for (List<Sequence> batch : batches) {
                PackedSequences packed = PackedSequences.of(batch);
                try (ForwardPass pass = decoder.forward(weights, packed, TEMPERATURE)) {
                    int scored = packed.targets().length;
                    float[] dLogProb = new float[scored];
                    float[] dEntropy = new float[scored];
                    for (int i = 0; i < scored; i++) {
                        dLogProb[i] = (float) random.nextGaussian();
                        dEntropy[i] = (float) random.nextGaussian();
                        outcome.logProbs.add(pass.scores().logProbs()[i]);
                        outcome.entropies.add(pass.scores().entropies()[i]);
                    }
                    pass.backward(gradients, dLogProb, dEntropy);
                }
            }
            gradients.tensors().stream().map(NDArray::toFloatArray).forEach(outcome.gradients::add);
        }
        return outcome;
    }

    private static double norm(float[] vector) {
        double squares = 0;
        for (float x : vector) {
            squares += (double) x * x;
        }
        return Math.sqrt(squares);
    }
}
