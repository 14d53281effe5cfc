package io.bellows.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code bin/bellows-cluster} refuses; {@code .ci/cluster} starts a cluster and trains on it. */
class ClusterScriptTest {

    @TempDir
    private Path folder;

    private record Result(int exitCode, String out, String err) {}

    @Test
    void helpSaysWhatItDoesAndExitsWithZero() throws Exception {
        Result result = run(7077, "--help");

        assertThat(result.exitCode()).isZero();
        assertThat(result.out()).contains("start", "status", "submit", "stop", "BELLOWS_CLUSTER_PORT");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "begin", "start 0", "start 2 many", "start 2 1 2", "start 2 1 2g 4", "stop now", "submit"})
    void wrongArgumentsAreUsage(String arguments) throws Exception {
        Result result = run(7077, arguments.split(" "));

        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.err()).startsWith("bellows-cluster: ").contains("bin/bellows-cluster --help");
    }

    @Test
    void withoutAClusterThereIsNothingToStopOrToSubmitTo() throws Exception {
        assertThat(run(7077, "status").exitCode()).isEqualTo(1);
        assertThat(run(7077, "stop").err()).contains("Cannot stop: no cluster runs in " + folder);
        assertThat(run(7077, "submit", "some.jar").err())
                .contains("Cannot submit: no cluster runs in " + folder, "bin/bellows-cluster start");
    }

    @Test
    void aPortInUseIsRefusedWithARemedy() throws Exception {
        try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Result result = run(other.getLocalPort(), "start");

            assertThat(result.exitCode()).isEqualTo(1);
            assertThat(result.err()).contains("port " + other.getLocalPort(), "BELLOWS_CLUSTER_PORT");
        }
    }

    private Result run(int port, String... arguments) throws IOException, InterruptedException {
        List<String> command = Stream.concat(Stream.of("../bin/bellows-cluster"), Stream.of(arguments))
                .filter(part -> !part.isEmpty())
                .toList();
        Path err = folder.resolve("stderr");
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(err.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("BELLOWS_"));
        builder.environment().put("BELLOWS_CLUSTER_DIR", folder.toString());
        builder.environment().put("BELLOWS_CLUSTER_PORT", Integer.toString(port));
        Process process = builder.start();
        process.getOutputStream().close();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Result(process.waitFor(), out, Files.readString(err));
    }
}
