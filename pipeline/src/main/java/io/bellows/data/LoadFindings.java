package io.bellows.data;

import java.io.Serializable;
import java.util.List;
import java.util.TreeMap;
import org.apache.spark.api.java.JavaRDD;

/**
 * What the rows of a dataset are like, counted in one pass before any is refused or left out. Changes while it counts; not
 * thread-safe.
 */
final class LoadFindings implements Serializable {

    private final int maxPromptLength;
    private final Listing bad = new Listing();
    private final Listing overlong = new Listing();
    private final Listing flagged = new Listing();
    private long rows;
    private long longestPrompt;

    private LoadFindings(int maxPromptLength) {
        this.maxPromptLength = maxPromptLength;
    }

    static LoadFindings of(JavaRDD<PromptRow> rows, int maxPromptLength) {
        return rows.aggregate(new LoadFindings(maxPromptLength), LoadFindings::plus, LoadFindings::plus);
    }

    long rows() {
        return rows;
    }

    long goodRows() {
        return rows - bad.total - overlong.total;
    }

    long longestPrompt() {
        return longestPrompt;
    }

    /** Rows that cannot be read. */
    Listing bad() {
        return bad;
    }

    /** Rows whose prompt is too long. */
    Listing overlong() {
        return overlong;
    }

    /** Good rows with a column that should hold JSON and does not. */
    Listing flagged() {
        return flagged;
    }

    private LoadFindings plus(PromptRow row) {
        rows++;
        if (row.problem() != null) {
            bad.add(row.place(), row.problem());
            return this;
        }
        longestPrompt = Math.max(longestPrompt, row.promptLength());
        if (row.promptLength() > maxPromptLength) {
            overlong.add(row.place(), row.promptLength() + " tokens");
        } else if (row.flag() != null) {
            flagged.add(row.place(), row.flag());
        }
        return this;
    }

    private LoadFindings plus(LoadFindings other) {
        rows += other.rows;
        longestPrompt = Math.max(longestPrompt, other.longestPrompt);
        bad.add(other.bad);
        overlong.add(other.overlong);
        flagged.add(other.flagged);
        return this;
    }

    /** A count of rows, with the first of them and what is to be said of each. */
    static final class Listing implements Serializable {

        private final TreeMap<PromptRow.Place, String> first = new TreeMap<>();
        private long total;

        long total() {
            return total;
        }

        List<RowProblem> problems(List<SourceFile> files) {
            return first.entrySet().stream()
                    .map(entry -> files.get(entry.getKey().file())
                            .problem(entry.getKey().row(), entry.getValue()))
                    .toList();
        }

        private void add(PromptRow.Place place, String reason) {
            total++;
            keep(place, reason);
        }

        private void add(Listing other) {
            total += other.total;
            other.first.forEach(this::keep);
        }

        private void keep(PromptRow.Place place, String reason) {
            first.put(place, reason);
            if (first.size() > LoadReport.MAX_LISTED) {
                first.pollLastEntry();
            }
        }
    }
}
