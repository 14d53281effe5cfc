package io.bellows.engine;

import java.util.Arrays;

/** What the rows of one step read and how they draw: one small table, so that a step needs one transfer. */
final class Rows {

    static final int COLUMNS = 7;

    private final double[] table;
    private final int count;
    private int longest;
    private boolean sampled;
    private int candidates;

    /**
     * Rows without a sequence.
     *
     * @param count their number
     */
    Rows(int count) {
        this.count = count;
        this.table = new double[count * COLUMNS];
        for (int row = 0; row < count; row++) {
            table[row * COLUMNS + 1] = -1;
        }
    }

    /** Lets {@code sample} have row {@code row}; takes its uniform number for this step. */
    void set(int row, Sample sample) {
        SamplingParams sampling = sample.sampling();
        int at = row * COLUMNS;
        table[at] = sample.lastId();
        table[at + 1] = sample.lastPosition();
        table[at + 2] = sampling.temperature();
        table[at + 3] = sampling.topK();
        table[at + 4] = sampling.topP();
        table[at + 5] = sampling.minP();
        table[at + 6] = sample.nextUniform();
        longest = Math.max(longest, sample.lastPosition() + 1);
        sampled |= !sampling.isGreedy();
        candidates = Math.max(candidates, sampling.candidates());
    }

    int count() {
        return count;
    }

    /** The most positions any row attends to. */
    int longest() {
        return longest;
    }

    boolean sampled() {
        return sampled;
    }

    /** How many of the likeliest tokens the rows' filters need, 0 if no row has a filter. */
    int candidates() {
        return candidates;
    }

    /** Token, position or -1, temperature, top-k, top-p, min-p and uniform number of each row. */
    double[] table() {
        return Arrays.copyOf(table, table.length);
    }
}
