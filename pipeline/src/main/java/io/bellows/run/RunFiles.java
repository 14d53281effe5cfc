package io.bellows.run;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;

/** Files below the root of a run, on whatever file system it lies; I/O errors name the path. */
final class RunFiles {

    private final FileSystem fileSystem;
    private final Configuration hadoop;
    private final Path root;

    RunFiles(String root, Configuration hadoop) {
        try {
            Path path = new Path(root);
            this.hadoop = hadoop;
            this.fileSystem = path.getFileSystem(hadoop);
            this.root = fileSystem.makeQualified(path);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot open the run directory " + root + ": check path and file system", e);
        }
    }

    Path root() {
        return root;
    }

    Configuration hadoop() {
        return hadoop;
    }

    Path path(String relative) {
        return new Path(root, relative);
    }

    /** The text of a file, empty when there is no such file. */
    Optional<String> text(Path file) {
        try (FSDataInputStream in = fileSystem.open(file)) {
            return Optional.of(new String(in.readAllBytes(), StandardCharsets.UTF_8));
        } catch (FileNotFoundException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw failed("read", file, e);
        }
    }

    boolean exists(Path path) {
        try {
            return fileSystem.exists(path);
        } catch (IOException e) {
            throw failed("look up", path, e);
        }
    }

    /** Files and folders directly in a folder, by name; none when there is no such folder. */
    List<FileStatus> list(Path folder) {
        try {
            FileStatus[] found = fileSystem.listStatus(folder);
            Arrays.sort(
                    found,
                    Comparator.comparing((FileStatus status) -> status.getPath().getName()));
            return List.of(found);
        } catch (FileNotFoundException e) {
            return List.of();
        } catch (IOException e) {
            throw failed("list", folder, e);
        }
    }

    /** All data files below a folder; names that start with a dot or underscore are not data. */
    List<FileStatus> dataFiles(Path folder) {
        try {
            List<FileStatus> found = new ArrayList<>();
            RemoteIterator<LocatedFileStatus> files = fileSystem.listFiles(folder, true);
            while (files.hasNext()) {
                FileStatus file = files.next();
                String name = file.getPath().getName();
                if (!name.startsWith(".") && !name.startsWith("_")) {
                    found.add(file);
                }
            }
            found.sort(Comparator.comparing((FileStatus file) -> file.getPath().toString()));
            return found;
        } catch (FileNotFoundException e) {
            return List.of();
        } catch (IOException e) {
            throw failed("list", folder, e);
        }
    }

    void makeFolder(Path folder) {
        try {
            fileSystem.mkdirs(folder);
        } catch (IOException e) {
            throw failed("create", folder, e);
        }
    }

    void delete(Path path) {
        try {
            fileSystem.delete(path, true);
        } catch (IOException e) {
            throw failed("delete", path, e);
        }
    }

    /** Copies a file from any file system. */
    void copy(Path from, Path to) {
        try {
            if (!FileUtil.copy(from.getFileSystem(hadoop), from, fileSystem, to, false, hadoop)) {
                throw new IOException("the file system refused");
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot copy " + from + " to " + to + ": " + e.getMessage(), e);
        }
    }

    /** Renames a folder to a name that is free. */
    void rename(Path from, Path to) {
        try {
            if (fileSystem.exists(to) || !fileSystem.rename(from, to)) {
                throw new IOException("the file system refused, or the target exists");
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot rename " + from + " to " + to + ": " + e.getMessage(), e);
        }
    }

    /** Writes a file that appears whole or not at all, and only if it does not exist; returns whether this call wrote it. */
    boolean publish(Path file, String text) {
        try {
            makeFolder(file.getParent());
            return AtomicFile.create(fileSystem, hadoop, file, text.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw failed("publish", file, e);
        }
    }

    /** Writes a file over an older one; a reader sees the old or the new text. */
    void replace(Path file, String text) {
        try {
            AtomicFile.replace(fileSystem, file, text.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw failed("write", file, e);
        }
    }

    private static UncheckedIOException failed(String verb, Path path, IOException e) {
        return new UncheckedIOException(
                "Cannot " + verb + " " + path + ": " + e.getMessage()
                        + "; see that the storage can be reached and has room, and start again",
                e);
    }
}
