package io.bellows.jobs;

import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;

/** Rows of text in aligned columns. */
final class TextTable {

    private static final int WIDEST = 80;

    private final List<List<String>> rows = new ArrayList<>();

    TextTable(List<String> header) {
        rows.add(header);
    }

    /** Adds a row of as many cells as the header has; null is shown as NULL. */
    void add(List<String> cells) {
        rows.add(cells.stream().map(TextTable::cell).toList());
    }

    /** The table, one line a row, a rule under the header, no line break at the end. */
    String render() {
        int[] widths = new int[rows.get(0).size()];
        for (List<String> row : rows) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(
                        widths[i], row.get(i).codePointCount(0, row.get(i).length()));
            }
        }
        StringJoiner lines = new StringJoiner("\n");
        for (int r = 0; r < rows.size(); r++) {
            lines.add(line(rows.get(r), widths));
            if (r == 0) {
                lines.add(line(
                        java.util.Arrays.stream(widths).mapToObj("-"::repeat).toList(), widths));
            }
        }
        return lines.toString();
    }

    private static String line(List<String> row, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            String cell = row.get(i);
            line.append(cell).append(" ".repeat(widths[i] - cell.codePointCount(0, cell.length()) + 2));
        }
        return line.toString().stripTrailing();
    }

    /** What a model wrote may hold line breaks and terminal escapes: neither may reach the console. */
    private static String cell(String text) {
        if (text == null) {
            return "NULL";
        }
        StringBuilder clean = new StringBuilder();
        text.codePoints().limit(WIDEST + 1L).forEach(c -> {
            if (c == '\n') {
                clean.append("\\n");
            } else if (c == '\t') {
                clean.append("\\t");
            } else {
                clean.appendCodePoint(Character.isISOControl(c) ? '\uFFFD' : c);
            }
        });
        return clean.codePointCount(0, clean.length()) <= WIDEST
                ? clean.toString()
                : clean.substring(0, clean.offsetByCodePoints(0, WIDEST - 1)) + "…";
    }
}
