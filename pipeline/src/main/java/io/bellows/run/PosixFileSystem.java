package io.bellows.run;

import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.UserPrincipal;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * The local file system without processes. Where its native library is missing, as a rule, Hadoop starts {@code chmod} for each file that it
 * creates and {@code ls} for each that it lists with its permissions: milliseconds each, dozens of times in an iteration. Nor are there hidden checksum
 * files beside the data, for the manifests of a run have checksums of their own.
 *
 * <p>Takes effect as {@code fs.file.impl}.
 */
public final class PosixFileSystem extends LocalFileSystem {

    /** The setting of Spark that makes this class the local file system. */
    public static final String SETTING = "spark.hadoop.fs.file.impl";

    /** For Hadoop, which initializes it. */
    public PosixFileSystem() {
        super(new Raw());
    }

    @Override
    public void initialize(URI name, Configuration configuration) throws IOException {
        super.initialize(name, configuration);
        setWriteChecksum(false);
        setVerifyChecksum(false);
    }

    private static final class Raw extends RawLocalFileSystem {

        private static final String ATTRIBUTES =
                "unix:mode,size,isDirectory,lastModifiedTime,lastAccessTime,owner,group";
        private static final int PERMISSIONS = 01777; // the sticky bit among them, as Hadoop has it
        private static final int INHERITED = 06000; // of a folder: whose files belong to its group, or owner

        @Override
        public FileStatus getFileStatus(Path path) throws IOException {
            File file = pathToFile(path);
            try {
                Map<String, Object> found = Files.readAttributes(file.toPath(), ATTRIBUTES);
                return new FileStatus(
                        (Long) found.get("size"),
                        (Boolean) found.get("isDirectory"),
                        1,
                        getDefaultBlockSize(path),
                        ((FileTime) found.get("lastModifiedTime")).toMillis(),
                        ((FileTime) found.get("lastAccessTime")).toMillis(),
                        new FsPermission((short) ((Integer) found.get("mode") & PERMISSIONS)),
                        ((UserPrincipal) found.get("owner")).getName(),
                        ((GroupPrincipal) found.get("group")).getName(),
                        makeQualified(new Path(file.getPath())));
            } catch (NoSuchFileException e) {
                throw notFound(path, e);
            }
        }

        @Override
        public FileStatus[] listStatus(Path path) throws IOException {
            // Of a file alone Hadoop returns a status that asks ls.
            return pathToFile(path).isFile() ? new FileStatus[] {getFileStatus(path)} : super.listStatus(path);
        }

        @Override
        public void setPermission(Path path, FsPermission permission) throws IOException {
            java.nio.file.Path file = pathToFile(path).toPath();
            try {
                // As chmod does with a number, a folder keeps what its files inherit.
                int kept = Files.isDirectory(file) ? (Integer) Files.getAttribute(file, "unix:mode") & INHERITED : 0;
                Files.setAttribute(file, "unix:mode", permission.toShort() | kept);
            } catch (NoSuchFileException e) {
                throw notFound(path, e);
            }
        }

        private static FileNotFoundException notFound(Path path, NoSuchFileException cause) {
            FileNotFoundException notFound = new FileNotFoundException("File " + path + " does not exist");
            notFound.initCause(cause);
            return notFound;
        }
    }
}
