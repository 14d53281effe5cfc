package io.bellows.data;

import java.io.Serializable;

/**
 * One file of a dataset.
 *
 * @param index its place among the files
 * @param path fully qualified path
 * @param kind what it holds
 * @param digest the first 16 hexadecimal digits of the SHA-256 of its bytes
 */
record SourceFile(int index, String path, Kind kind, String digest) implements Serializable {

    /** File formats. */
    enum Kind {
        JSON_LINES,
        PARQUET
    }

    /** A problem of the row at {@code row}, numbered as people number rows of this kind of file. */
    RowProblem problem(long row, String reason) {
        return kind == Kind.JSON_LINES
                ? new RowProblem(displayPath(), RowProblem.Unit.LINE, row + 1, reason)
                : new RowProblem(displayPath(), RowProblem.Unit.ROW, row, reason);
    }

    /** The path as people write it: local ones without scheme. */
    String displayPath() {
        return path.startsWith("file:/") ? path.replaceFirst("^file:/+", "/") : path;
    }

    /** The file's name without folders and suffixes. */
    String stem() {
        String name = path.substring(path.lastIndexOf('/') + 1);
        return name.indexOf('.') > 0 ? name.substring(0, name.indexOf('.')) : name;
    }
}
