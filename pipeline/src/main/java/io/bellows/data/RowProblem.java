package io.bellows.data;

/**
 * Something wrong with one row.
 *
 * @param file path of the file
 * @param unit what {@code number} counts
 * @param number where: physical line from 1, or row of a Parquet file from 0
 * @param reason what is wrong
 */
public record RowProblem(String file, Unit unit, long number, String reason) {

    /** How rows of a file are numbered. */
    public enum Unit {
        /** Physical lines, the first is 1. */
        LINE,
        /** Rows, the first is 0. */
        ROW
    }

    /** {@code file:line: reason}, or {@code file, row n: reason}. */
    @Override
    public String toString() {
        return unit == Unit.LINE ? file + ":" + number + ": " + reason : file + ", row " + number + ": " + reason;
    }
}
