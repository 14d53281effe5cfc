package io.bellows.training;

import io.bellows.model.PackedSequences;
import io.bellows.udfs.loss.Sequences;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * Rows that go through a model together, their response tokens laid end to end without padding.
 *
 * @param rows in the order of the response tokens
 * @param sequences the layout of their response tokens, T in all
 */
public record MicroBatch(List<TrainingSequence> rows, Sequences sequences) {

    /**
     * Lays out rows in the order given.
     *
     * @param rows with every segment of their trajectories: rows of the same id are one trajectory
     */
    static MicroBatch of(List<TrainingSequence> rows) {
        Map<String, Long> tokens = new HashMap<>();
        rows.forEach(row -> tokens.merge(row.id(), row.sampledTokens(), Long::sum));
        return of(rows, rows.stream().mapToLong(row -> tokens.get(row.id())).toArray());
    }

    private static MicroBatch of(List<TrainingSequence> rows, long[] trajectoryTokens) {
        int[] bounds = new int[rows.size() + 1];
        for (int i = 0; i < rows.size(); i++) {
            bounds[i + 1] = bounds[i] + rows.get(i).responseIds().length;
        }
        boolean[] mask = new boolean[bounds[rows.size()]];
        for (int i = 0; i < rows.size(); i++) {
            System.arraycopy(rows.get(i).mask(), 0, mask, bounds[i], rows.get(i).mask().length);
        }
        return new MicroBatch(rows, Sequences.segments(bounds, mask, trajectoryTokens));
    }

    /**
     * The rows that a model can score: an empty response has no token.
     *
     * @param rows any rows
     * @return those with a response; empty when none has one
     */
    public static MicroBatch scored(List<TrainingSequence> rows) {
        return of(rows).part(IntStream.range(0, rows.size()).toArray());
    }

    /**
     * Some rows of this batch that a model can score, as {@link #scored} has them. They know of the segments of their
     * trajectories that are elsewhere in this batch.
     *
     * @param members indices of rows
     * @return those with a response; empty when none has one
     */
    MicroBatch part(int[] members) {
        int[] kept = Arrays.stream(members)
                .filter(i -> rows.get(i).responseIds().length > 0)
                .toArray();
        return of(
                Arrays.stream(kept).mapToObj(rows::get).toList(),
                Arrays.stream(kept).mapToLong(sequences::trajectoryTokens).toArray());
    }

    /**
     * Returns prompts and responses as the decoder takes them.
     *
     * @return the packed sequences, whose scored tokens are the T response tokens
     */
    public PackedSequences packed() {
        return PackedSequences.of(rows.stream().map(TrainingSequence::sequence).toList());
    }

    /**
     * Returns one column of all rows, laid end to end.
     *
     * @param column takes R numbers from a row
     * @return the column, T
     */
    public float[] joined(Function<TrainingSequence, float[]> column) {
        return Floats.joined(rows.stream().map(column).toList());
    }

    /** Returns which tokens of all rows the policy loss chose, laid end to end. */
    boolean[] joinedSelection() {
        boolean[] all = new boolean[sequences.tokens()];
        for (int i = 0; i < rows.size(); i++) {
            boolean[] selected = rows.get(i).selected();
            System.arraycopy(selected, 0, all, sequences.start(i), selected.length);
        }
        return all;
    }
}
