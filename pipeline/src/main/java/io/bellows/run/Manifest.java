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
        String committedAt) {

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
