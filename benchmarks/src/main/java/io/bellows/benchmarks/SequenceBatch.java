package io.bellows.benchmarks;

import io.bellows.model.ModelConfig;
import io.bellows.model.PackedSequences;
import io.bellows.model.PackedSequences.Sequence;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * Sequences of one length, and the work that they are.
 *
 * @param sequences how many
 * @param length tokens of each
 */
record SequenceBatch(int sequences, int length) {

    /** Random tokens; all but the first of a sequence are scored. */
    PackedSequences random(ModelConfig config, int seed) {
        Random random = new Random(seed);
        List<Sequence> rows = IntStream.range(0, sequences)
                .mapToObj(i -> new Sequence(
                        random.ints(length, 0, config.vocabularySize()).toArray(), 1))
                .toList();
        return PackedSequences.of(rows);
    }

    long tokens() {
        return (long) sequences * length;
    }

    /**
     * Floating-point operations of a forward pass: two for each parameter and token, the head's among them, and the two products
     * of causal attention. A backward pass takes twice as many.
     */
    double forwardFlops(ModelConfig config) {
        long embedding = (long) config.vocabularySize() * config.hiddenSize();
        double parameters = config.parameterCount() - (config.tiedEmbeddings() ? 0 : embedding);
        double attention = 2.0 * 2 * config.layers() * config.heads() * config.headSize() * tokens() * length / 2;
        return 2 * parameters * tokens() + attention;
    }
}
