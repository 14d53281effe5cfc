package io.bellows.run;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.DelegateToFileSystem;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FsServerDefaults;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/**
 * The local disk under a scheme of its own, which takes the road of a distributed file system. After a set number of changes
 * every further one fails, as if the process had been killed there.
 */
public final class FaultyFileSystem extends RawLocalFileSystem {

    static final String SCHEME = "faulty";
    private static final URI ROOT = URI.create(SCHEME + ":///");
    private static final AtomicInteger CHANGES_LEFT = new AtomicInteger(Integer.MAX_VALUE);

    /** Makes the scheme known. */
    static Configuration register(Configuration hadoop) {
        hadoop.set("fs." + SCHEME + ".impl", FaultyFileSystem.class.getName());
        hadoop.set("fs.AbstractFileSystem." + SCHEME + ".impl", Delegate.class.getName());
        return hadoop;
    }

    static void failAfter(int changes) {
        CHANGES_LEFT.set(changes);
    }

    static void heal() {
        CHANGES_LEFT.set(Integer.MAX_VALUE);
    }

    static boolean isDead() {
        return CHANGES_LEFT.get() < 0;
    }

    // What Spark does among its temporary files is one step: no kill there differs from a kill before it.
    private static void change(String what) throws IOException {
        int left = CHANGES_LEFT.get();
        if (left < 0
                || (left != Integer.MAX_VALUE && !what.contains("_temporary") && CHANGES_LEFT.decrementAndGet() < 0)) {
            throw new IOException("killed before " + what);
        }
    }

    @Override
    public URI getUri() {
        return ROOT;
    }

    @Override
    public String getScheme() {
        return SCHEME;
    }

    @Override
    public FSDataOutputStream create(
            Path file,
            FsPermission permission,
            boolean overwrite,
            int bufferSize,
            short replication,
            long blockSize,
            Progressable progress)
            throws IOException {
        change("creating " + file);
        return super.create(file, permission, overwrite, bufferSize, replication, blockSize, progress);
    }

    @Override
    public FSDataOutputStream create(
            Path file, boolean overwrite, int bufferSize, short replication, long blockSize, Progressable progress)
            throws IOException {
        change("creating " + file);
        return super.create(file, overwrite, bufferSize, replication, blockSize, progress);
    }

    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
        return plain(super.getFileStatus(path));
    }

    @Override
    public FileStatus[] listStatus(Path path) throws IOException {
        return Arrays.stream(super.listStatus(path))
                .map(FaultyFileSystem::plain)
                .toArray(FileStatus[]::new);
    }

    // The local disk's own status looks up permissions by a path that must be of scheme "file".
    private static FileStatus plain(FileStatus status) {
        return new FileStatus(
                status.getLen(),
                status.isDirectory(),
                1,
                status.getBlockSize(),
                status.getModificationTime(),
                status.getPath());
    }

    @Override
    public boolean mkdirs(Path folder) throws IOException {
        change("making " + folder);
        return super.mkdirs(folder);
    }

    @Override
    public boolean rename(Path from, Path to) throws IOException {
        change("renaming " + from);
        return super.rename(from, to);
    }

    @Override
    public boolean delete(Path path, boolean recursive) throws IOException {
        change("deleting " + path);
        return super.delete(path, recursive);
    }

    /** The same for {@link org.apache.hadoop.fs.FileContext}. */
    public static final class Delegate extends DelegateToFileSystem {

        /** Called by Hadoop. */
        public Delegate(URI uri, Configuration hadoop) throws IOException, URISyntaxException {
            super(ROOT, created(hadoop), hadoop, SCHEME, false);
        }

        private static FaultyFileSystem created(Configuration hadoop) throws IOException {
            FaultyFileSystem fileSystem = new FaultyFileSystem();
            fileSystem.initialize(ROOT, hadoop);
            return fileSystem;
        }

        /** In one go, as the name node of HDFS renames: the local disk looks first and renames then. */
        @Override
        public void renameInternal(Path from, Path to, boolean overwrite) throws IOException {
            synchronized (Delegate.class) {
                super.renameInternal(from, to, overwrite);
            }
        }

        @Override
        public FsServerDefaults getServerDefaults(Path path) throws IOException {
            return super.getServerDefaults(path);
        }

        @Override
        public int getUriDefaultPort() {
            return -1;
        }
    }
}
