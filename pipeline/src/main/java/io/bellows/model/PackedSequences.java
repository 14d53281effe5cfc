package io.bellows.model;

import java.nio.IntBuffer;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Sequences on one token axis, without padding. A prompt that several of them begin with, token for token, is there once.
 *
 * <p>The axis is made of pieces: first whole sequences and shared prompts, then what follows a shared prompt. Pieces of one
 * length, behind prompts of one length, are neighbours: a run, which attention takes in one call.
 *
 * @param ids the tokens on the axis, T
 * @param positions where each of them is in its sequence, T
 * @param runs two numbers for each run: its pieces, and the length of each of them
 * @param prompts for each piece the index of the shared prompt that it follows, or -1 where a sequence begins
 * @param rows where on the axis the state before each scored token is, N; samples of a shared prompt have the first in common
 * @param targets the scored tokens, N: those of the first sequence, then those of the next
 */
public record PackedSequences(int[] ids, int[] positions, int[] runs, int[] prompts, int[] rows, int[] targets) {

    /**
     * One sequence.
     *
     * @param ids its tokens, at least one
     * @param firstScored index of the first token to score, at least 1: a first token has no context. What is before it is
     *     the sequence's prompt
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

        IntBuffer prompt() {
            return IntBuffer.wrap(ids, 0, firstScored); // equal where the tokens are
        }
    }

    /** Tokens {@code from..to} of a sequence, which follow the first {@code from} of it in the piece {@code prompt}. */
    private static final class Piece {
        private final int[] ids;
        private final int from;
        private final int to;
        private final Piece prompt;
        private int index;
        private int start;

        Piece(int[] ids, int from, int to, Piece prompt) {
            this.ids = ids;
            this.from = from;
            this.to = to;
            this.prompt = prompt;
        }

        int promptLength() {
            return from;
        }

        int length() {
            return to - from;
        }

        boolean isLike(Piece other) {
            return length() == other.length() && promptLength() == other.promptLength();
        }

        /** Where on the axis the sequence's token {@code t} is. */
        int place(int t) {
            return t < from ? prompt.place(t) : start + t - from;
        }
    }

    /**
     * Packs sequences.
     *
     * @param sequences at least one
     * @return the packed sequences, whose scores come in the order of {@code sequences}
     */
    public static PackedSequences of(List<Sequence> sequences) {
        Map<IntBuffer, Piece> prompts = sharedPrompts(sequences);
        List<Piece> ends = sequences.stream()
                .map(sequence -> end(sequence, prompts.get(sequence.prompt())))
                .toList();
        List<Piece> pieces = inRuns(Stream.concat(prompts.values().stream(), ends.stream()));
        int[] rows = new int[sequences.stream().mapToInt(Sequence::scored).sum()];
        int[] targets = new int[rows.length];
        int n = 0;
        for (int i = 0; i < ends.size(); i++) {
            Sequence sequence = sequences.get(i);
            for (int t = sequence.firstScored; t < sequence.ids.length; t++) {
                rows[n] = ends.get(i).place(t - 1);
                targets[n++] = sequence.ids[t];
            }
        }
        return laid(pieces, rows, targets);
    }

    /**
     * Packs sequences of which only the last state is read, and nothing is scored.
     *
     * @param sequences at least one, each with at least one token
     * @return the packed sequences, with a row for each, in the order of {@code sequences}, and targets that mean nothing
     */
    static PackedSequences ends(List<int[]> sequences) {
        List<Piece> whole = sequences.stream()
                .map(ids -> new Piece(ids, 0, ids.length, null))
                .toList();
        List<Piece> pieces = inRuns(whole.stream());
        int[] last = whole.stream().mapToInt(piece -> piece.place(piece.to - 1)).toArray();
        return laid(pieces, last, new int[last.length]);
    }

    private static Map<IntBuffer, Piece> sharedPrompts(List<Sequence> sequences) {
        Map<IntBuffer, Integer> counts = new LinkedHashMap<>();
        sequences.forEach(sequence -> counts.merge(sequence.prompt(), 1, Integer::sum));
        Map<IntBuffer, Piece> shared = new LinkedHashMap<>();
        counts.forEach((prompt, count) -> {
            if (count > 1) {
                shared.put(prompt, new Piece(prompt.array(), 0, prompt.limit(), null));
            }
        });
        return shared;
    }

    /** What a sequence has for itself. */
    private static Piece end(Sequence sequence, Piece prompt) {
        int from = prompt == null ? 0 : sequence.firstScored;
        return new Piece(sequence.ids, from, sequence.ids.length, prompt);
    }

    /** Puts pieces on the axis, those that can be attended to together side by side. */
    private static List<Piece> inRuns(Stream<Piece> pieces) {
        List<Piece> ordered = pieces.filter(piece -> piece.length() > 0)
                .sorted(Comparator.comparingInt(Piece::promptLength).thenComparingInt(Piece::length))
                .toList();
        int start = 0;
        for (int i = 0; i < ordered.size(); i++) {
            ordered.get(i).index = i;
            ordered.get(i).start = start;
            start += ordered.get(i).length();
        }
        return ordered;
    }

    private static PackedSequences laid(List<Piece> pieces, int[] rows, int[] targets) {
        return new PackedSequences(
                pieces.stream()
                        .flatMapToInt(piece -> Arrays.stream(piece.ids, piece.from, piece.to))
                        .toArray(),
                pieces.stream()
                        .flatMapToInt(piece -> IntStream.range(piece.from, piece.to))
                        .toArray(),
                runs(pieces),
                pieces.stream()
                        .mapToInt(piece -> piece.prompt == null ? -1 : piece.prompt.index)
                        .toArray(),
                rows,
                targets);
    }

    private static int[] runs(List<Piece> pieces) {
        IntStream.Builder runs = IntStream.builder();
        int first = 0;
        for (int i = 1; i <= pieces.size(); i++) {
            if (i == pieces.size() || !pieces.get(i).isLike(pieces.get(first))) {
                runs.add(i - first).add(pieces.get(first).length());
                first = i;
            }
        }
        return runs.build().toArray();
    }

    /** Tokens of the longest sequence. */
    int longest() {
        return Arrays.stream(positions).max().orElse(-1) + 1;
    }
}
