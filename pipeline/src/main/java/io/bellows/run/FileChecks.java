package io.bellows.run;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;

/** Compares files with what a manifest says of them. */
final class FileChecks {

    private FileChecks() {}

    static void sameSizes(RunFiles files, Path folder, List<DataFile> expected, String remedy) {
        Map<Path, Map<String, Long>> listed = new HashMap<>();
        for (DataFile file : expected) {
            Path path = new Path(folder, file.path());
            Long bytes = listed.computeIfAbsent(path.getParent(), parent -> sizes(files, parent))
                    .get(path.getName());
            if (bytes == null) {
                throw new InvalidRunException("Cannot read " + path + ": its manifest says " + file.bytes()
                        + " bytes, and there is no such file; " + remedy);
            }
            if (bytes != file.bytes()) {
                throw new InvalidRunException("Cannot read " + path + ": its manifest says " + file.bytes()
                        + " bytes, found " + bytes + "; " + remedy);
            }
        }
    }

    static void sameDigests(SparkSession spark, RunFiles files, Path folder, List<DataFile> expected, String remedy) {
        List<Path> paths =
                expected.stream().map(file -> new Path(folder, file.path())).toList();
        List<String> found = FileDigests.checksums(spark, files.hadoop(), paths);
        for (int i = 0; i < expected.size(); i++) {
            if (!expected.get(i).sha256().equals(found.get(i))) {
                throw new InvalidRunException("Cannot read " + paths.get(i) + ": its manifest says SHA-256 "
                        + expected.get(i).sha256() + ", found " + found.get(i) + "; " + remedy);
            }
        }
    }

    private static Map<String, Long> sizes(RunFiles files, Path folder) {
        Map<String, Long> sizes = new HashMap<>();
        for (FileStatus status : files.list(folder)) {
            sizes.put(status.getPath().getName(), status.getLen());
        }
        return sizes;
    }
}
