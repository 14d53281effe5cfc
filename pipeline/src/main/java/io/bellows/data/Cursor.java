package io.bellows.data;

import java.io.Serializable;

/**
 * How far a run has read its dataset; part of the commit of an iteration.
 *
 * @param epoch passes over the dataset finished, from 0
 * @param offset rows of this pass already taken, in its shuffled order
 */
public record Cursor(int epoch, long offset) implements Serializable {

    /** The beginning of the first epoch. */
    public static final Cursor START = new Cursor(0, 0);

    /** Checks that both are at least 0. */
    public Cursor {
        if (epoch < 0 || offset < 0) {
            throw new IllegalArgumentException(
                    "Invalid data cursor: epoch " + epoch + ", offset " + offset + "; both start at 0");
        }
    }
}
