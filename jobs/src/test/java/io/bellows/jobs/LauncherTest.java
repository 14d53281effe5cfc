package io.bellows.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the real launcher with a java and a Maven that only say how they were called. */
class LauncherTest {

    @TempDir
    private Path folder;

    private Path home;
    private Path classpath;
    private final Map<String, String> environment = new HashMap<>();

    private record Result(int exitCode, List<String> out, String err) {}

    @BeforeEach
    void aBuiltProjectInAFolderWithASpace() throws IOException {
        home = Files.createDirectories(folder.resolve("my projects/bellows"));
        Files.createDirectories(home.resolve("bin"));
        Files.copy(Path.of("../bin/bellows"), home.resolve("bin/bellows"));
        script(home.resolve("bin/bellows"), Files.readString(home.resolve("bin/bellows")));
        script(folder.resolve("jdk/bin/java"), "#!/bin/sh\nfor a in \"$@\"; do echo \"$a\"; done\nenv\n");
        Path jar = Files.createFile(home.resolve("some.jar"));
        Path source = Files.writeString(
                Files.createDirectories(home.resolve("jobs/src/main")).resolve("A.java"), "class A {}");
        classpath = Files.writeString(
                Files.createDirectories(home.resolve("jobs/target")).resolve("classpath.txt"), jar + "\n");
        for (Path old : List.of(source, source.getParent(), source.getParent().getParent())) {
            Files.setLastModifiedTime(old, FileTime.from(Instant.EPOCH));
        }
        environment.put("JAVA_HOME", folder.resolve("jdk").toString());
        environment.put("HOME", "");
    }

    @Test
    void runsFromAnywhereThroughALinkWithArgumentsAsGiven() throws Exception {
        Path link = Files.createSymbolicLink(folder.resolve("bellows"), Path.of("my projects/bellows/bin/bellows"));

        Result result = run(link, "sql", "SELECT 1", "");

        assertThat(result.exitCode()).isZero();
        assertThat(result.err()).isEmpty();
        assertThat(result.out()).contains("@" + home.toRealPath() + "/conf/jvm.options", "-Xmx2g");
        assertThat(String.join("\n", result.out())).contains("io.bellows.jobs.Bellows\nsql\nSELECT 1\n\n");
    }

    @Test
    void threadsAndHeapFollowTheEnvironment() throws Exception {
        environment.put("BELLOWS_THREADS", "3");
        environment.put("BELLOWS_HEAP", "5g");

        assertThat(run(home.resolve("bin/bellows")).out())
                .contains("-Xmx5g", "OMP_NUM_THREADS=3", "GOMP_SPINCOUNT=0", "OMP_WAIT_POLICY=passive");
    }

    @Test
    void aSourceNewerThanTheBuildIsBuiltOnceWithOneLine() throws Exception {
        Files.setLastModifiedTime(classpath, FileTime.from(Instant.EPOCH.minusSeconds(60)));
        maven("touch '" + classpath + "'");

        Result first = run(home.resolve("bin/bellows"));
        Result second = run(home.resolve("bin/bellows"));

        assertThat(first.exitCode()).isZero();
        assertThat(first.err().lines()).hasSize(1);
        assertThat(first.err()).contains("building", "done");
        assertThat(second.err()).isEmpty();
    }

    @Test
    void aBuildThatFailsShowsWhyAndWhereTheLogIs() throws Exception {
        Files.delete(classpath);
        maven("echo '[ERROR] no such class'; exit 1");

        Result result = run(home.resolve("bin/bellows"), "doctor");

        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.err()).contains("[ERROR] no such class", "build.log");
        assertThat(result.out()).isEmpty();
    }

    private void maven(String body) throws IOException {
        environment.put(
                "BELLOWS_MVN",
                script(folder.resolve("mvn"), "#!/bin/sh\n" + body + "\n").toString());
    }

    private static Path script(Path file, String text) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private Result run(Path launcher, String... args) throws IOException, InterruptedException {
        Path err = folder.resolve("stderr");
        ProcessBuilder builder = new ProcessBuilder(Stream.concat(Stream.of(launcher.toString()), Stream.of(args))
                        .toList())
                .directory(Files.createDirectories(folder.resolve("elsewhere")).toFile())
                .redirectError(err.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("BELLOWS_") || name.startsWith("OMP_"));
        builder.environment().putAll(environment);
        Process process = builder.start();
        process.getOutputStream().close();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Result(process.waitFor(), out.lines().toList(), Files.readString(err));
    }
}
