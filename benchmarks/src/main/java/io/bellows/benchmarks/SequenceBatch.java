package io.bellows.benchmarks;

import io.bellows.model.ModelConfig;
import io.bellows.model.PackedSequences;
import io.bellows.model.PackedSequences.Sequence;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Sequences of one length, and the work that they are.
 *
 * @param sequences how many
 * @param length tokens of each
 */
record SequenceBatch(int sequences, int length) {

    /** Random tokens; all but the first of a sequence are scored, and no two sequences begin alike. */
    PackedSequences random(ModelConfig config, int seed) {
        Random random = new Random(seed);
        List<Sequence> rows = new ArrayList<>();
        for (int i = 0; i < sequences; i++) {
            int[] ids = random.ints(length, 0, config.vocabularySize()).toArray();
            ids[0] = i;
            rows.add(new Sequence(ids, 1));
        }
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
