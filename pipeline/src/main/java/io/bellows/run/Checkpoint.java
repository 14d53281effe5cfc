package io.bellows.run;

import java.io.Serializable;
import java.nio.file.Path;
import java.util.List;

/**
 * A published checkpoint: model and optimizer as an iteration left them.
 *
 * @param iteration the iteration that wrote it, which is also the version of its weights
 * @param uri its folder, on the file system of the run
 * @param manifestSha256 checksum of its {@code manifest.json}
 * @param files everything in it, paths relative to the folder
 */
public record Checkpoint(int iteration, String uri, String manifestSha256, List<DataFile> files)
        implements Serializable {

    /** Copies the list. */
    public Checkpoint {
        files = List.copyOf(files);
    }

    /** A sub-folder, such as {@code actor}. */
    public String uri(String name) {
        return uri + "/" + name;
    }

    /**
     * The folder as a local path.
     *
     * @throws UnsupportedOperationException when the run is on no local file system
     */
    public Path localPath() {
        return local(uri);
    }

    /** Its folder below the run directory. */
    public String relativePath() {
        return relativePath(iteration);
    }

    static String relativePath(int iteration) {
        return "checkpoints/%06d".formatted(iteration);
    }

    static Path local(String uri) {
        org.apache.hadoop.fs.Path path = new org.apache.hadoop.fs.Path(uri);
        String scheme = path.toUri().getScheme();
        if (scheme != null && !scheme.equals("file")) {
            throw new UnsupportedOperationException("Unsupported checkpoint " + uri
                    + ": not on the local file system; copy it to a local folder first");
        }
        return Path.of(path.toUri().getPath());
    }
}
