package io.bellows.run;

import java.util.List;

/**
 * What a stage knows about its table besides the files.
 *
 * @param expectedRows rows the table must have, or null when only the stage's result tells
 * @param leastRows rows it must have at least, or null: a trajectory in segments has several
 * @param weightsVersion version of the weights that made it, or null
 * @param reads the committed tables it was made from
 * @param state for {@link io.bellows.trajectory.Table#METRICS} only, and required there: what the iteration leaves behind
 */
public record ManifestExtras(
        Long expectedRows, Long leastRows, Long weightsVersion, List<ManifestRef> reads, IterationState state) {

    /** Nothing to add. */
    public static final ManifestExtras NONE = new ManifestExtras(null, null, null, List.of(), null);

    /** Copies the list. */
    public ManifestExtras {
        reads = List.copyOf(reads);
    }

    /** The same with the number of rows the table must have. */
    public ManifestExtras withExpectedRows(long rows) {
        return new ManifestExtras(rows, leastRows, weightsVersion, reads, state);
    }

    /** The same with the number of rows the table must have at least. */
    public ManifestExtras withLeastRows(long rows) {
        return new ManifestExtras(expectedRows, rows, weightsVersion, reads, state);
    }

    /** The same with the version of the weights. */
    public ManifestExtras withWeightsVersion(long version) {
        return new ManifestExtras(expectedRows, leastRows, version, reads, state);
    }

    /** The same with the lineage. */
    public ManifestExtras withReads(List<ManifestRef> tables) {
        return new ManifestExtras(expectedRows, leastRows, weightsVersion, tables, state);
    }

    /** The same with the state of the iteration. */
    public ManifestExtras withState(IterationState iterationState) {
        return new ManifestExtras(expectedRows, leastRows, weightsVersion, reads, iterationState);
    }
}
