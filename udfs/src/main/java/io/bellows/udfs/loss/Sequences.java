package io.bellows.udfs.loss;

import java.util.Arrays;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;

/**
 * Ragged layout of the sequences of a (micro-)batch: all tokens on one axis, no padding. Sequence {@code i} is the tokens from
 * {@code cuSeqLens[i]} (inclusive) to {@code cuSeqLens[i + 1]} (exclusive). It may include prompt tokens; only tokens whose mask
 * is true, those the policy sampled, have a part in any loss.
 */
public final class Sequences {
    private final int[] cuSeqLens;
    private final boolean[] mask;
    private final long[] trajectoryTokens;

    private Sequences(int[] cuSeqLens, boolean[] mask, long[] trajectoryTokens) {
        this.cuSeqLens = cuSeqLens;
        this.mask = mask;
        this.trajectoryTokens = trajectoryTokens;
    }

    /**
     * Sequences that are each a whole trajectory.
     *
     * @param cuSeqLens cumulative lengths, shape (sequences + 1), starting at 0
     * @param mask true for a sampled token, shape (tokens)
     * @throws IllegalArgumentException if the cumulative lengths do not rise from 0 to the length of the mask
     */
    public static Sequences of(int[] cuSeqLens, boolean[] mask) {
        check(cuSeqLens, mask.length);
        int[] bounds = cuSeqLens.clone();
        boolean[] ownMask = mask.clone();
        long[] sampled = new long[bounds.length - 1];
        for (int i = 0; i < sampled.length; i++) {
            sampled[i] = count(ownMask, bounds[i], bounds[i + 1]);
        }
        return new Sequences(bounds, ownMask, sampled);
    }

    /**
     * Sequences that may be segments of longer trajectories. A mean over the tokens of a trajectory then divides by the tokens of
     * all its segments, wherever those are computed.
     *
     * @param trajectoryTokens sampled tokens of the whole trajectory that each sequence belongs to, shape (sequences)
     * @throws IllegalArgumentException as {@link #of}, and if a trajectory has fewer sampled tokens than its segment
     */
    public static Sequences segments(int[] cuSeqLens, boolean[] mask, long[] trajectoryTokens) {
        Sequences whole = of(cuSeqLens, mask);
        if (trajectoryTokens.length != whole.count()) {
            throw new IllegalArgumentException("Invalid trajectory token counts: " + trajectoryTokens.length + " for "
                    + whole.count() + " sequences");
        }
        for (int i = 0; i < whole.count(); i++) {
            if (trajectoryTokens[i] < whole.trajectoryTokens[i]) {
                throw new IllegalArgumentException("Invalid trajectory token count " + trajectoryTokens[i]
                        + " of sequence " + i + ": its segment alone has " + whole.trajectoryTokens[i]
                        + " sampled tokens");
            }
        }
        return new Sequences(whole.cuSeqLens, whole.mask, trajectoryTokens.clone());
    }

    /** Number of sequences. */
    public int count() {
        return cuSeqLens.length - 1;
    }

    /** Number of tokens of all sequences, sampled or not. */
    public int tokens() {
        return mask.length;
    }

    /** First token of sequence {@code i}. */
    public int start(int i) {
        return cuSeqLens[i];
    }

    /** One past the last token of sequence {@code i}. */
    public int end(int i) {
        return cuSeqLens[i + 1];
    }

    /** Whether the policy sampled this token. */
    public boolean sampled(int token) {
        return mask[token];
    }

    /** Number of sampled tokens of sequence {@code i}. */
    public int sampledTokens(int i) {
        return count(mask, start(i), end(i));
    }

    /** Number of sampled tokens of all sequences. */
    public int sampledTokens() {
        return count(mask, 0, mask.length);
    }

    /** Number of sampled tokens of the trajectory of sequence {@code i}, all its segments together. */
    public long trajectoryTokens(int i) {
        return trajectoryTokens[i];
    }

    /**
     * The mean of a value over the sampled tokens of each sequence, at every token of it; 0 in a sequence without any.
     *
     * @param value the value of a token, asked for sampled tokens only
     * @return shape (tokens)
     */
    double[] meansOfSampled(IntToDoubleFunction value) {
        double[] means = new double[tokens()];
        for (int i = 0; i < count(); i++) {
            double mean = IntStream.range(start(i), end(i))
                    .filter(this::sampled)
                    .mapToDouble(value)
                    .average()
                    .orElse(0);
            Arrays.fill(means, start(i), end(i), mean);
        }
        return means;
    }

    /**
     * Checks that an array has one entry per token.
     *
     * @throws IllegalArgumentException naming the array, if it has not
     */
    public void requireOnePerToken(String name, int length) {
        if (length != tokens()) {
            throw new IllegalArgumentException(
                    "Invalid " + name + ": " + length + " values for " + tokens() + " tokens");
        }
    }

    private static int count(boolean[] mask, int from, int to) {
        int count = 0;
        for (int t = from; t < to; t++) {
            if (mask[t]) {
                count++;
            }
        }
        return count;
    }

    private static void check(int[] cuSeqLens, int tokens) {
        boolean valid = cuSeqLens.length > 0 && cuSeqLens[0] == 0 && cuSeqLens[cuSeqLens.length - 1] == tokens;
        for (int i = 1; i < cuSeqLens.length; i++) {
            valid &= cuSeqLens[i] >= cuSeqLens[i - 1];
        }
        if (!valid) {
            throw new IllegalArgumentException("Invalid cumulative lengths " + Arrays.toString(cuSeqLens) + " for "
                    + tokens + " tokens: they must rise from 0 to the number of tokens");
        }
    }
}
