package io.bellows.data;

import java.util.List;

/**
 * What a load met.
 *
 * @param files one entry a file: its path and the layout recognised
 * @param rowsRead rows of all files, good or bad, without empty lines at the end of a file
 * @param rowsKept rows of the dataset
 * @param badRows rows left out because they cannot be read
 * @param problems the first of the bad rows, in file order, at most {@link #MAX_LISTED}
 * @param overlongRows rows left out because their prompt is too long
 * @param longestPrompt tokens of the longest prompt read
 * @param duplicatePrompts kept rows whose prompt an earlier row has
 * @param duplicatePairs kept rows whose prompt and reference answer an earlier row has
 * @param withoutGroundTruth kept rows without a reference answer
 * @param flaggedRows kept rows with a column that should hold JSON and does not; its text is kept as it is
 * @param flags the first of them, at most {@link #MAX_LISTED}
 */
public record LoadReport(
        List<File> files,
        long rowsRead,
        long rowsKept,
        long badRows,
        List<RowProblem> problems,
        long overlongRows,
        long longestPrompt,
        long duplicatePrompts,
        long duplicatePairs,
        long withoutGroundTruth,
        long flaggedRows,
        List<RowProblem> flags) {

    /** Rows listed one by one at most; beyond it they are only counted. */
    public static final int MAX_LISTED = 100;

    /**
     * One file.
     *
     * @param path where it is
     * @param digest the first 16 hexadecimal digits of the SHA-256 of its bytes
     * @param layout the dataset layout it was read as
     */
    public record File(String path, String digest, String layout) {}

    /** Copies the lists. */
    public LoadReport {
        files = List.copyOf(files);
        problems = List.copyOf(problems);
        flags = List.copyOf(flags);
    }

    /** The report for people: counts in one line, then what was wrong, one a line. */
    public String summary() {
        StringBuilder text = new StringBuilder("%d rows kept of %d read".formatted(rowsKept, rowsRead));
        count(text, badRows, "cannot be read");
        count(text, overlongRows, "too long");
        count(text, duplicatePrompts, "repeat an earlier prompt");
        count(text, duplicatePairs, "repeat prompt and ground truth");
        count(text, withoutGroundTruth, "without ground truth");
        count(text, flaggedRows, "with unreadable JSON in a column");
        list(text, problems, badRows);
        list(text, flags, flaggedRows);
        return text.toString();
    }

    private static void count(StringBuilder text, long rows, String what) {
        if (rows > 0) {
            text.append(", ").append(rows).append(' ').append(what);
        }
    }

    static void list(StringBuilder text, List<RowProblem> problems, long total) {
        problems.forEach(problem -> text.append("\n  ").append(problem));
        if (total > problems.size()) {
            text.append("\n  and ").append(total - problems.size()).append(" more");
        }
    }
}
