package io.bellows.engine;

import ai.djl.ndarray.NDArray;
import java.util.List;

/** What the scheduler runs: a decoder with slots for keys and values. Used by one thread. */
interface StepModel extends AutoCloseable {

    /**
     * A piece of a prompt.
     *
     * @param slot where its keys and values go
     * @param prompt the whole prompt
     * @param start first token of the piece
     * @param end token after the piece
     */
    record Piece(int slot, int[] prompt, int start, int end) {
        boolean endsPrompt() {
            return end == prompt.length;
        }
    }

    /**
     * Reads pieces of prompts into their slots.
     *
     * @return for each piece that ends its prompt, in order, the logits of the next token, to be closed by the caller
     */
    List<NDArray> prefill(List<Piece> pieces);

    /**
     * Draws the first token of responses.
     *
     * @param logits those after the prompt, one entry for each row
     */
    Draws drawFirst(List<NDArray> logits, Rows rows);

    /** Reads one token in each of the first {@code rows.count()} slots and draws the next. */
    Draws decode(Rows rows);

    /** Copies the first {@code length} positions of one slot to others. */
    void copy(int source, int[] targets, int length);

    /** Forgets a slot's keys and values: a NaN among them would spoil whatever comes after. */
    void clear(int slot);

    @Override
    void close();

    /**
     * Drawn tokens.
     *
     * @param values id and log-probability of each row
     */
    record Draws(double[] values) {
        int id(int row) {
            return (int) values[2 * row];
        }

        float logProb(int row) {
            return (float) values[2 * row + 1];
        }
    }
}
