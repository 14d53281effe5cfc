package io.bellows.training;

import io.bellows.model.PackedSequences;
import io.bellows.udfs.loss.Sequences;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Rows that go through a model together, their response tokens laid end to end without padding.
 *
 * @param rows in the order of the token axis
 * @param sequences the layout of their response tokens, T in all
 */
public record MicroBatch(List<TrainingSequence> rows, Sequences sequences) {

    /** Lays out rows in the order given; rows of one id are segments of one trajectory, all of which are here. */
    static MicroBatch of(List<TrainingSequence> rows) {
        return of(rows, sampledById(rows));
    }

    /** Sampled tokens by trajectory: of all its rows. */
    static Map<String, Long> sampledById(List<TrainingSequence> rows) {
        Map<String, Long> sampled = new HashMap<>();
        for (TrainingSequence row : rows) {
            long count = 0;
            for (boolean one : row.mask()) {
                count += one ? 1 : 0;
            }
            sampled.merge(row.id(), count, Long::sum);
        }
        return sampled;
    }

    private static MicroBatch of(List<TrainingSequence> rows, Map<String, Long> sampledById) {
        int[] bounds = new int[rows.size() + 1];
        for (int i = 0; i < rows.size(); i++) {
            bounds[i + 1] = bounds[i] + rows.get(i).responseIds().length;
        }
        boolean[] mask = new boolean[bounds[rows.size()]];
        long[] trajectoryTokens =
                rows.stream().mapToLong(row -> sampledById.get(row.id())).toArray();
        for (int i = 0; i < rows.size(); i++) {
            System.arraycopy(rows.get(i).mask(), 0, mask, bounds[i], rows.get(i).mask().length);
        }
        return new MicroBatch(rows, Sequences.segments(bounds, mask, trajectoryTokens));
    }

    /**
     * The rows that a model can score: an empty response has no token. They are put in the order of their lengths, since the
     * decoder attends to equal lengths in one call.
     *
     * @param rows any rows
     * @return those with a response; empty when none has one
     */
    public static MicroBatch scored(List<TrainingSequence> rows) {
        return scored(rows, sampledById(rows));
    }

    /** The same for a part of a mini-batch that may have some segments of a trajectory and not others. */
    static MicroBatch scored(List<TrainingSequence> rows, Map<String, Long> sampledById) {
        return of(
                rows.stream()
                        .filter(row -> row.responseIds().length > 0)
                        .sorted(Comparator.comparingInt(TrainingSequence::length))
                        .toList(),
                sampledById);
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
