package io.bellows.run;

import java.io.Serializable;
import java.nio.file.Path;

/**
 * A folder in which the update task writes a checkpoint: {@code actor/} in Hugging Face layout, {@code optimizer/}. It counts
 * for nothing until {@link RunDirectory#publish}.
 *
 * @param iteration the iteration whose update writes it
 * @param uri the folder, on the file system of the run
 */
public record CheckpointAttempt(int iteration, String uri) implements Serializable {

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
        return Checkpoint.local(uri);
    }
}
