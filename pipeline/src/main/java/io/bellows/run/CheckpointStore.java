package io.bellows.run;

import com.fasterxml.jackson.core.JsonProcessingException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;

/** The checkpoints of a run: {@code checkpoints/000007/{actor,optimizer,manifest.json}}. */
final class CheckpointStore {

    private static final String ATTEMPT = ".attempt-";
    private static final String DELETED = ".deleted-";
    private static final String MANIFEST = "manifest.json";

    /** Content of a checkpoint's manifest. */
    record Content(int format, String runId, int iteration, List<DataFile> files) {}

    private final SparkSession spark;
    private final RunFiles files;
    private final String runId;

    CheckpointStore(SparkSession spark, RunFiles files, String runId) {
        this.spark = spark;
        this.files = files;
        this.runId = runId;
    }

    CheckpointAttempt begin(int iteration) {
        Path folder = files.path("checkpoints/" + ATTEMPT + UUID.randomUUID());
        files.makeFolder(folder);
        return new CheckpointAttempt(iteration, folder.toString());
    }

    Checkpoint publish(CheckpointAttempt attempt) {
        Path folder = new Path(attempt.uri());
        List<Path> paths =
                files.dataFiles(folder).stream().map(FileStatus::getPath).toList();
        if (paths.isEmpty()) {
            throw new IllegalStateException(
                    "Cannot publish the checkpoint of iteration " + attempt.iteration() + ": " + folder + " is empty");
        }
        List<DataFile> digests = FileDigests.of(spark, files.hadoop(), folder, paths);
        String manifest = Json.pretty(new Content(Manifest.FORMAT, runId, attempt.iteration(), digests));
        files.publish(new Path(folder, MANIFEST), manifest);
        Path target = files.path(Checkpoint.relativePath(attempt.iteration()));
        // One published by an attempt that died before its iteration was committed: nothing refers to it.
        retire(attempt.iteration());
        files.rename(folder, target);
        return new Checkpoint(attempt.iteration(), target.toString(), Json.sha256(manifest), digests);
    }

    Optional<Checkpoint> find(int iteration) {
        Path folder = files.path(Checkpoint.relativePath(iteration));
        Path manifest = new Path(folder, MANIFEST);
        return files.text(manifest).map(text -> {
            try {
                Content content = Json.MAPPER.readValue(text, Content.class);
                return new Checkpoint(iteration, folder.toString(), Json.sha256(text), content.files());
            } catch (JsonProcessingException e) {
                throw new InvalidRunException("Invalid manifest " + manifest + ": not readable ("
                        + e.getOriginalMessage() + "); restore the checkpoint");
            }
        });
    }

    /** Makes sure that this is the checkpoint the iteration committed, with every file in its size. */
    void check(Checkpoint checkpoint, IterationState committed) {
        if (!checkpoint.manifestSha256().equals(committed.checkpointSha256())) {
            throw new InvalidRunException("Cannot use the checkpoint " + checkpoint.uri()
                    + ": its iteration committed a manifest with SHA-256 " + committed.checkpointSha256() + ", found "
                    + checkpoint.manifestSha256() + "; restore the checkpoint");
        }
        FileChecks.sameSizes(files, new Path(checkpoint.uri()), checkpoint.files(), "restore the checkpoint");
    }

    /** Compares every file with its checksum. */
    void verify(Checkpoint checkpoint) {
        FileChecks.sameDigests(spark, files, new Path(checkpoint.uri()), checkpoint.files(), "restore the checkpoint");
    }

    /** Iterations that have a checkpoint folder, ascending. */
    List<Integer> iterations() {
        return files.list(files.path("checkpoints")).stream()
                .map(status -> status.getPath().getName())
                .filter(name -> name.matches("\\d{6,9}"))
                .map(Integer::valueOf)
                .sorted()
                .toList();
    }

    /** Deletes a checkpoint; a stop half-way leaves a folder that nobody takes for a checkpoint. */
    void retire(int iteration) {
        Path folder = files.path(Checkpoint.relativePath(iteration));
        if (files.exists(folder)) {
            Path deleted = files.path("checkpoints/" + DELETED + UUID.randomUUID());
            files.rename(folder, deleted);
            files.delete(deleted);
        }
    }

    /** Deletes attempts that were not published and what a deletion left. */
    void removeOrphans() {
        for (FileStatus status : files.list(files.path("checkpoints"))) {
            String name = status.getPath().getName();
            if (name.startsWith(ATTEMPT) || name.startsWith(DELETED)) {
                files.delete(status.getPath());
            }
        }
    }
}
