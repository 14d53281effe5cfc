package io.bellows.udfs.loss;

import io.bellows.udfs.Golden;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.BiConsumer;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;

/** Batches for tests of losses. */
final class Batches {

    private Batches() {}

    /** A right-padded matrix as ragged sequences: every row with its padding, which the mask rules out. */
    static Sequences padded(Golden.Case golden, String maskName) {
        double[][] mask = golden.matrix(maskName);
        int[] cuSeqLens = new int[mask.length + 1];
        Arrays.setAll(cuSeqLens, i -> i * mask[0].length);
        return Sequences.of(cuSeqLens, golden.mask(maskName));
    }

    /**
     * What our loss is to be multiplied by to get that of the reference, which was told of so many ranks. verl averages gradients
     * over ranks and so multiplies by their number, where here ranks add; and the reference lacks the mean over sequences in
     * seq-mean-token-sum-norm (mended in its later versions) and the ranks with it.
     */
    static double referenceFactor(LossAggregation mode, BatchTotals totals, double ranks) {
        return mode == LossAggregation.SEQ_MEAN_TOKEN_SUM_NORM ? totals.sequences() : ranks;
    }

    /** Random sequences of 1 to 9 tokens, about a quarter of them not sampled. */
    static Sequences random(Random random, int count) {
        int[] cuSeqLens = new int[count + 1];
        for (int i = 0; i < count; i++) {
            cuSeqLens[i + 1] = cuSeqLens[i] + 1 + random.nextInt(9);
        }
        boolean[] mask = new boolean[cuSeqLens[count]];
        for (int t = 0; t < mask.length; t++) {
            mask[t] = random.nextInt(4) != 0;
        }
        return Sequences.of(cuSeqLens, mask);
    }

    static double[] values(Random random, int count, double mean, double std) {
        return random.doubles(count).map(u -> mean + std * (2 * u - 1)).toArray();
    }

    /** All that a loss can use, drawn at random, with NaN wherever nothing was sampled. */
    static Values values(Random random, Sequences sequences) {
        int tokens = sequences.tokens();
        double[] logProbs = values(random, tokens, -1.5, 1.4);
        double[] shift = values(random, tokens, 0, 1.5);
        double[] refShift = values(random, tokens, 0, 0.8);
        Values values = new Values(
                logProbs,
                fill(tokens, t -> logProbs[t] + shift[t]),
                values(random, tokens, 0, 2),
                fill(tokens, t -> logProbs[t] + refShift[t]),
                values(random, tokens, 2, 1),
                values(random, tokens, 1, 0.5));
        for (double[] array : values.all()) {
            for (int t = 0; t < tokens; t++) {
                array[t] = sequences.sampled(t) ? array[t] : Double.NaN;
            }
        }
        return values;
    }

    static double[] fill(int count, IntToDoubleFunction value) {
        double[] values = new double[count];
        Arrays.setAll(values, value);
        return values;
    }

    /** The arrays of a batch. */
    @SuppressWarnings("ArrayRecordComponent")
    record Values(
            double[] logProbs,
            double[] oldLogProbs,
            double[] advantages,
            double[] refLogProbs,
            double[] entropies,
            double[] importanceWeights) {

        double[][] all() {
            return new double[][] {logProbs, oldLogProbs, advantages, refLogProbs, entropies, importanceWeights};
        }

        PolicyBatch batch(Sequences sequences) {
            return PolicyBatch.of(sequences)
                    .logProbs(logProbs)
                    .oldLogProbs(oldLogProbs)
                    .advantages(advantages)
                    .refLogProbs(refLogProbs)
                    .entropies(entropies)
                    .importanceWeights(importanceWeights)
                    .build();
        }

        /** The tokens at these positions, in this order. */
        Values pick(int[] positions) {
            double[][] picked = Arrays.stream(all())
                    .map(array -> fill(positions.length, i -> positions[i] < 0 ? Double.NaN : array[positions[i]]))
                    .toArray(double[][]::new);
            return new Values(picked[0], picked[1], picked[2], picked[3], picked[4], picked[5]);
        }
    }

    /**
     * Some rows of a batch one after the other, each after so many tokens of padding.
     *
     * @param positions where each token was in the batch, −1 for padding
     */
    @SuppressWarnings("ArrayRecordComponent")
    record Picked(Sequences sequences, int[] positions) {

        boolean[] pick(boolean[] flags) {
            boolean[] picked = new boolean[positions.length];
            for (int t = 0; t < picked.length; t++) {
                picked[t] = positions[t] >= 0 && flags[positions[t]];
            }
            return picked;
        }

        /** Calls with the place of each token here and in the batch. */
        void forEach(BiConsumer<Integer, Integer> action) {
            for (int t = 0; t < positions.length; t++) {
                if (positions[t] >= 0) {
                    action.accept(t, positions[t]);
                }
            }
        }
    }

    /** The rows of these indices, in their order. */
    static Picked pick(Sequences batch, List<Integer> rows, int padding) {
        int[] positions = rows.stream()
                .flatMapToInt(row -> IntStream.concat(
                        IntStream.generate(() -> -1).limit(padding), IntStream.range(batch.start(row), batch.end(row))))
                .toArray();
        int[] cuSeqLens = new int[rows.size() + 1];
        for (int i = 0; i < rows.size(); i++) {
            cuSeqLens[i + 1] = cuSeqLens[i] + padding + batch.end(rows.get(i)) - batch.start(rows.get(i));
        }
        boolean[] mask = new boolean[positions.length];
        for (int t = 0; t < mask.length; t++) {
            mask[t] = positions[t] >= 0 && batch.sampled(positions[t]);
        }
        return new Picked(Sequences.of(cuSeqLens, mask), positions);
    }
}
