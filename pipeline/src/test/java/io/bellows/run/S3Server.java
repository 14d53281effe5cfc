package io.bellows.run;

import java.io.IOException;
import java.net.JarURLConnection;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Adobe S3Mock as a process of its own: its libraries and ours do not go together. */
final class S3Server implements AutoCloseable {

    static final String BUCKET = "bellows";

    private static final String IN_ITS_JAR = "META-INF/maven/com.adobe.testing/s3mock/pom.properties";
    private static final Pattern STARTED = Pattern.compile("Tomcat started on ports.* (\\d+) \\(http\\)");
    private static final Duration LONGEST_START = Duration.ofMinutes(1);

    private final Process process;
    private final int port;

    private S3Server(Process process, int port) {
        this.process = process;
        this.port = port;
    }

    static S3Server start(Path folder) throws IOException, InterruptedException {
        Path log = folder.resolve("log");
        ProcessBuilder builder = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx256m",
                        "-XX:TieredStopAtLevel=1",
                        "-jar",
                        jar(),
                        "--server.port=0",
                        "--com.adobe.testing.s3mock.httpPort=0",
                        "--com.adobe.testing.s3mock.store.root=" + Files.createDirectory(folder.resolve("objects")),
                        "--com.adobe.testing.s3mock.store.initialBuckets=" + BUCKET)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        Process process = builder.start();
        Instant deadline = Instant.now().plus(LONGEST_START);
        while (process.isAlive() && Instant.now().isBefore(deadline)) {
            Matcher started = STARTED.matcher(Files.readString(log));
            if (started.find()) {
                return new S3Server(process, Integer.parseInt(started.group(1)));
            }
            Thread.sleep(50);
        }
        process.destroyForcibly();
        throw new IllegalStateException("Cannot start S3Mock: " + Files.readString(log));
    }

    private static String jar() throws IOException {
        URL inside = S3Server.class.getClassLoader().getResource(IN_ITS_JAR);
        return Path.of(((JarURLConnection) inside.openConnection())
                        .getJarFileURL()
                        .getPath())
                .toString();
    }

    /** Hadoop's properties to reach the bucket by; those of no other bucket. */
    Map<String, String> properties() {
        String prefix = "fs.s3a.bucket." + BUCKET + ".";
        return Map.of(
                prefix + "endpoint", "http://127.0.0.1:" + port,
                prefix + "endpoint.region", "us-east-1",
                prefix + "path.style.access", "true",
                prefix + "access.key", "any",
                prefix + "secret.key", "any");
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
