package io.bellows.data;

import io.bellows.data.SourceFile.Kind;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.util.SerializableConfiguration;

/** Finds the files that paths, comma lists, globs and folders name, on any Hadoop file system. */
final class DatasetFiles {

    private static final List<String> COMPRESSED = List.of(".gz", ".bz2", ".zst", ".lz4", ".snappy", ".deflate");

    private DatasetFiles() {}

    /**
     * Every file, in the order given, those of one glob or folder by name; each with its digest.
     *
     * @throws InvalidDatasetException naming every path that leads to no file, and every file of unknown format
     */
    static List<SourceFile> find(SparkSession spark, List<String> paths) {
        Configuration hadoop = spark.sessionState().newHadoopConf();
        List<String> errors = new ArrayList<>();
        List<FileStatus> found = new ArrayList<>();
        for (String path : paths.stream().flatMap(list -> split(list).stream()).toList()) {
            try {
                found.addAll(files(new Path(path), hadoop));
            } catch (IOException | IllegalArgumentException e) {
                errors.add("Cannot read dataset " + path + ": " + e.getMessage());
            }
        }
        List<String> names =
                found.stream().map(file -> file.getPath().toString()).toList();
        names.stream()
                .filter(name -> kind(name).isEmpty())
                .forEach(name -> errors.add("Unsupported dataset file " + name
                        + ": expected a name ending in .parquet, .jsonl, .ndjson or .json"
                        + " (one object a line; may be compressed)"));
        if (names.isEmpty() && errors.isEmpty()) {
            errors.add("Cannot read dataset: no file is named; set data.train_files");
        }
        if (!errors.isEmpty()) {
            throw new InvalidDatasetException(String.join("\n", errors));
        }
        return withDigests(spark, names, hadoop);
    }

    /** Splits a comma list; commas inside the braces of a glob stay. */
    static List<String> split(String list) {
        List<String> parts = new ArrayList<>();
        int depth = 0;
        int from = 0;
        for (int i = 0; i <= list.length(); i++) {
            char c = i == list.length() ? ',' : list.charAt(i);
            depth += c == '{' ? 1 : c == '}' ? -1 : 0;
            if (i == list.length() || (c == ',' && depth <= 0)) {
                parts.add(list.substring(from, i).strip());
                from = i + 1;
            }
        }
        parts.removeIf(String::isEmpty);
        return parts;
    }

    private static List<FileStatus> files(Path path, Configuration hadoop) throws IOException {
        FileSystem fileSystem = path.getFileSystem(hadoop);
        // A name with brackets that exists is that file, not a pattern.
        FileStatus[] matches = fileSystem.exists(path)
                ? new FileStatus[] {fileSystem.getFileStatus(path)}
                : fileSystem.globStatus(path);
        if (matches == null || matches.length == 0) {
            throw new FileNotFoundException("no such file; give an existing path, a glob or a folder");
        }
        List<FileStatus> files = new ArrayList<>();
        for (FileStatus match : sorted(matches)) {
            if (match.isFile()) {
                files.add(match);
            } else {
                filesOfFolder(fileSystem, match.getPath(), files);
            }
        }
        return files;
    }

    private static void filesOfFolder(FileSystem fileSystem, Path folder, List<FileStatus> files) throws IOException {
        List<FileStatus> children = Arrays.stream(sorted(fileSystem.listStatus(folder)))
                .filter(FileStatus::isFile)
                .filter(file -> kind(file.getPath().toString()).isPresent())
                .filter(file -> !file.getPath().getName().startsWith("_")
                        && !file.getPath().getName().startsWith("."))
                .toList();
        if (children.isEmpty()) {
            throw new FileNotFoundException("the folder holds no .parquet, .jsonl, .ndjson or .json file");
        }
        files.addAll(children);
    }

    private static FileStatus[] sorted(FileStatus[] statuses) {
        Arrays.sort(statuses, Comparator.comparing(FileStatus::getPath));
        return statuses;
    }

    private static Optional<Kind> kind(String path) {
        String name = path.toLowerCase(Locale.ROOT);
        for (String suffix : COMPRESSED) {
            name = name.endsWith(suffix) ? name.substring(0, name.length() - suffix.length()) : name;
        }
        if (name.endsWith(".parquet")) {
            return Optional.of(Kind.PARQUET);
        }
        boolean lines = name.endsWith(".jsonl") || name.endsWith(".ndjson") || name.endsWith(".json");
        return lines ? Optional.of(Kind.JSON_LINES) : Optional.empty();
    }

    private static List<SourceFile> withDigests(SparkSession spark, List<String> paths, Configuration hadoop) {
        SerializableConfiguration configuration = new SerializableConfiguration(hadoop);
        List<String> digests = JavaSparkContext.fromSparkContext(spark.sparkContext())
                .parallelize(paths, Math.min(paths.size(), 1000))
                .map(path -> digest(path, configuration.value()))
                .collect();
        List<SourceFile> files = new ArrayList<>();
        for (int i = 0; i < paths.size(); i++) {
            files.add(new SourceFile(i, paths.get(i), kind(paths.get(i)).orElseThrow(), digests.get(i)));
        }
        return files;
    }

    private static String digest(String path, Configuration hadoop) throws IOException {
        Path file = new Path(path);
        try (InputStream in = file.getFileSystem(hadoop).open(file);
                DigestInputStream digest = new DigestInputStream(in, MessageDigest.getInstance("SHA-256"))) {
            byte[] buffer = new byte[1 << 16];
            while (digest.read(buffer) >= 0) {
                // reading is digesting
            }
            return HexFormat.of().formatHex(digest.getMessageDigest().digest(), 0, 8);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java platform has SHA-256", e);
        }
    }
}
