package io.bellows.run;

import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Function;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.util.HadoopInputFile;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.util.SerializableConfiguration;

/** Rows, size and checksum of files, computed by the cluster: the driver never reads the data, unless it is all there is. */
final class FileDigests implements Serializable {

    private static final long serialVersionUID = 1L;

    /** What is told of the file of a name. */
    private interface Digest<T> extends Function<String, T>, Serializable {}

    private final SerializableConfiguration hadoop;
    private final String folder;

    private FileDigests(Configuration hadoop, String folder) {
        this.hadoop = new SerializableConfiguration(hadoop);
        this.folder = folder;
    }

    /** Digests of {@code paths}, which lie below {@code folder}, in their order. */
    static List<DataFile> of(SparkSession spark, Configuration hadoop, Path folder, List<Path> paths) {
        if (paths.isEmpty()) {
            return List.of();
        }
        FileDigests digests = new FileDigests(hadoop, folder.toString());
        List<String> names = paths.stream().map(Path::toString).toList();
        return each(spark, names, digests::digest);
    }

    /** Checksums of {@code paths}, in their order; the files need not be readable as what they are. */
    static List<String> checksums(SparkSession spark, Configuration hadoop, List<Path> paths) {
        if (paths.isEmpty()) {
            return List.of();
        }
        FileDigests digests = new FileDigests(hadoop, "");
        List<String> names = paths.stream().map(Path::toString).toList();
        return each(spark, names, digests::checksum);
    }

    private static <T> List<T> each(SparkSession spark, List<String> names, Digest<T> digest) {
        return spark.sparkContext().isLocal() // where a job would only take longer
                ? names.parallelStream().map(digest).toList()
                : JavaSparkContext.fromSparkContext(spark.sparkContext())
                        .parallelize(names, names.size())
                        .map(digest::apply)
                        .collect();
    }

    private DataFile digest(String file) {
        Path path = new Path(file);
        try {
            long bytes = path.getFileSystem(hadoop.value()).getFileStatus(path).getLen();
            return new DataFile(file.substring(folder.length() + 1), rows(path), bytes, checksum(file));
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read " + file + ": " + e.getMessage(), e);
        }
    }

    private String checksum(String file) {
        Path path = new Path(file);
        MessageDigest sha256 = Json.digest();
        byte[] buffer = new byte[1 << 20];
        try (InputStream in = open(path)) {
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                sha256.update(buffer, 0, n);
            }
            return HexFormat.of().formatHex(sha256.digest());
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read " + file + ": " + e.getMessage(), e);
        }
    }

    // Hadoop's own checksum of a local file would fail first, without saying what was found.
    private InputStream open(Path path) throws IOException {
        FileSystem fileSystem = path.getFileSystem(hadoop.value());
        return fileSystem instanceof LocalFileSystem local
                ? local.getRawFileSystem().open(path)
                : fileSystem.open(path);
    }

    private long rows(Path path) throws IOException {
        if (!path.getName().endsWith(".parquet")) {
            return 0;
        }
        try (ParquetFileReader reader = ParquetFileReader.open(HadoopInputFile.fromPath(path, hadoop.value()))) {
            return reader.getRecordCount();
        }
    }
}
