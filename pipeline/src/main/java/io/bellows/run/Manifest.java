package io.bellows.run;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.bellows.trajectory.Table;
import java.util.List;

/**
 * The commit of a table of an iteration: the table is what this names, and nothing else in the folder counts.
 *
 * @param format version of this layout
 * @param runId the run
 * @param iteration the iteration
 * @param round the round of its rollout, from 0: dynamic sampling makes several, each a part of the table
 * @param table the table
 * @param attempt folder of the files, beside the manifest
 * @param files exact files, paths relative to the folder of the manifest
 * @param rows sum of their rows
 * @param schemaSha256 checksum of the table's schema
 * @param configHash {@link io.bellows.config.BellowsConfig#hash()}
 * @param weightsVersion version of the weights that made it, or null
 * @param reads the committed tables it was made from
 * @param state for the update only: what the iteration leaves behind
 * @param driver id of the driver that committed it
 * @param committedAt when, ISO-8601
 * @param sha256 checksum of all of the above, or null in what older versions wrote
 */
public record Manifest(
        int format,
        String runId,
        int iteration,
        int round,
        Table table,
        String attempt,
        List<DataFile> files,
        long rows,
        String schemaSha256,
        String configHash,
        Long weightsVersion,
        List<ManifestRef> reads,
        IterationState state,
        String driver,
        String committedAt,
        String sha256) {

    /** The layout this version writes. */
    public static final int FORMAT = 1;

    /** Copies the lists. */
    public Manifest {
        files = List.copyOf(files);
        reads = List.copyOf(reads);
    }

    /** A reference to this commit, for the lineage of what is made from it. */
    public ManifestRef ref() {
        return new ManifestRef(iteration, round, table, attempt);
    }

    /** The same with the checksum of its content. */
    Manifest sealed() {
        return with(Json.sha256(Json.pretty(with(null))));
    }

    private Manifest with(String checksum) {
        return new Manifest(
                format,
                runId,
                iteration,
                round,
                table,
                attempt,
                files,
                rows,
                schemaSha256,
                configHash,
                weightsVersion,
                reads,
                state,
                driver,
                committedAt,
                checksum);
    }

    /**
     * Makes sure that nobody changed it, and that its numbers fit together.
     *
     * @throws InvalidRunException naming {@code path}
     */
    void verify(String path) {
        if (sha256 != null && !sha256.equals(sealed().sha256)) {
            throw new InvalidRunException("Invalid manifest " + path + ": its content has SHA-256 " + sealed().sha256
                    + ", it says " + sha256 + "; somebody changed it, restore it");
        }
        long sum = files.stream().mapToLong(DataFile::rows).sum();
        if (sum != rows) {
            throw new InvalidRunException("Invalid manifest " + path + ": it says " + rows + " rows, its files have "
                    + sum + "; restore it");
        }
    }

    static Manifest parse(String json, String path) {
        try {
            Manifest manifest = Json.MAPPER.readValue(json, Manifest.class);
            if (manifest.format() == FORMAT) {
                return manifest;
            }
            throw new InvalidRunException("Unsupported manifest " + path + ": format " + manifest.format()
                    + ", this version reads " + FORMAT + "; use the version that wrote it");
        } catch (JsonProcessingException e) {
            throw new InvalidRunException("Invalid manifest " + path + ": not readable (" + e.getOriginalMessage()
                    + "); restore it, or delete it to compute that stage and all after it again");
        }
    }
}
