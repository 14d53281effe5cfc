package io.bellows.model;

import java.util.List;

/**
 * Sequences laid end to end on one token axis, without padding.
 *
 * @param ids token ids of all sequences, T in all
 * @param bounds start of each sequence and, last, T
 * @param rows ascending positions on the token axis whose next token is scored, N in all
 * @param targets the next token at each of {@code rows}
 */
public record PackedSequences(int[] ids, int[] bounds, int[] rows, int[] targets) {

    /**
     * One sequence.
     *
     * @param ids its tokens, at least one
     * @param firstScored index of the first token to score, at least 1: a first token has no context
     */
    public record Sequence(int[] ids, int firstScored) {
        /**
         * Checks the range.
         *
         * @throws IllegalArgumentException if {@code firstScored} is not in 1..ids.length
         */
        public Sequence {
            if (firstScored < 1 || firstScored > ids.length) {
                throw new IllegalArgumentException("Invalid first scored token " + firstScored + " of a sequence of "
                        + ids.length + " tokens: expected 1 to " + ids.length);
            }
        }

        int scored() {
            return ids.length - firstScored;
        }
    }

    /**
     * Packs sequences in the order given.
     *
     * @param sequences at least one
     * @return the packed sequences; scores come back in the same order
     */
    public static PackedSequences of(List<Sequence> sequences) {
        int tokens = sequences.stream().mapToInt(s -> s.ids.length).sum();
        int scored = sequences.stream().mapToInt(Sequence::scored).sum();
        int[] ids = new int[tokens];
        int[] bounds = new int[sequences.size() + 1];
        int[] rows = new int[scored];
        int[] targets = new int[scored];
        int row = 0;
        for (int i = 0; i < sequences.size(); i++) {
            Sequence sequence = sequences.get(i);
            int start = bounds[i];
            System.arraycopy(sequence.ids, 0, ids, start, sequence.ids.length);
            for (int t = sequence.firstScored; t < sequence.ids.length; t++) {
                rows[row] = start + t - 1;
                targets[row++] = sequence.ids[t];
            }
            bounds[i + 1] = start + sequence.ids.length;
        }
        return new PackedSequences(ids, bounds, rows, targets);
    }

    /** Position of each token in its own sequence. */
    long[] positions() {
        long[] positions = new long[ids.length];
        for (int i = 0; i + 1 < bounds.length; i++) {
            for (int t = bounds[i]; t < bounds[i + 1]; t++) {
                positions[t] = (long) t - bounds[i];
            }
        }
        return positions;
    }
}
