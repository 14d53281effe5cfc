package io.bellows.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.bellows.SparkTest;
import io.bellows.config.BellowsConfig;
import io.bellows.model.GoldenModel;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A run on a Spark of several processes, with pretended GPUs, is the run of one process. */
@Tag("slow")
class ClusterRunTest extends SparkTest {

    private static final List<String> CURVES = List.of(
            "actor/pg_loss",
            "actor/grad_norm",
            "actor/kl_loss",
            "critic/vf_loss",
            "critic/rewards/mean",
            "actor/ppo_kl");

    private static final Path SETTINGS = GoldenModel.path("/tiny-run.yaml");

    /** A process that lives for seconds has no use for the optimizing compiler. */
    private static final String SHORT_LIVED = "-XX:TieredStopAtLevel=1";

    @TempDir
    private Path folder;

    @Test
    void lossCurvesDoNotDependOnTheNumberOfExecutors() throws Exception {
        BellowsConfig alone = BellowsConfig.load(SETTINGS, overrides(folder.resolve("one")));
        List<Map<String, Double>> one =
                new TrainLoop(spark, alone, Progress.NONE).run().metrics();
        JsonNode two = trainOnTwoExecutors(folder.resolve("two"));

        assertThat(two.get("executors").asInt()).isEqualTo(2);
        assertThat(two.get("problems")).isEmpty();
        assertThat(addresses(two))
                .as("each executor saw its own GPU")
                .hasSize(2)
                .doesNotContain("null");
        assertThat(folder.resolve("two/checkpoints/000002/optimizer").toFile().list())
                .contains("actor-00001-of-00002.safetensors", "critic-00002-of-00002.safetensors");
        assertThat(one).hasSize(2);
        assertThat(two.get("metrics").size()).isEqualTo(2);
        for (int i = 0; i < 2; i++) {
            for (String name : CURVES) {
                assertThat(two.get("metrics").get(i).get(name).asDouble())
                        .as(name + " of iteration " + (i + 1))
                        .isCloseTo(one.get(i).get(name), within(1e-4));
            }
        }
    }

    private static List<String> addresses(JsonNode result) {
        List<String> addresses = new ArrayList<>();
        result.get("addresses").forEach(text -> addresses.add(text.asText().replaceAll(".*:", "")));
        return addresses.stream().distinct().toList();
    }

    private JsonNode trainOnTwoExecutors(Path run) throws Exception {
        Path result = folder.resolve("result.json");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "@" + Path.of("../conf/jvm.options").toRealPath(),
                "-Xmx1g",
                SHORT_LIVED,
                "-Dai.djl.offline=true",
                "-cp",
                classPath(),
                ClusterProgram.class.getName(),
                result.toString(),
                SETTINGS.toString()));
        command.addAll(overrides(run));
        command.addAll(cluster());
        Path log = folder.resolve("log");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
        builder.environment().putAll(environment());
        Process process = builder.start();
        try {
            assertThat(process.waitFor(240, TimeUnit.SECONDS))
                    .as("ended in time")
                    .isTrue();
        } finally {
            process.destroyForcibly();
        }
        assertThat(process.exitValue()).as(Files.readString(log)).isZero();
        return new ObjectMapper().readTree(result.toFile());
    }

    /** Workers find jars and executors without a Spark distribution when these are set. */
    private Map<String, String> environment() throws IOException {
        Files.createDirectories(folder.resolve("spark/jars"));
        return Map.of(
                "SPARK_HOME", folder.resolve("spark").toString(),
                "SPARK_SCALA_VERSION", "2.13",
                "SPARK_LOCAL_IP", "127.0.0.1",
                "BELLOWS_DEVICE", "cpu",
                "OMP_NUM_THREADS", "1",
                "GOMP_SPINCOUNT", "0",
                "MALLOC_ARENA_MAX", "2");
    }

    /** Of this JVM, also where a launcher keeps the tests in a class loader of its own. */
    private static String classPath() {
        Stream<String> entries =
                Arrays.stream(System.getProperty("java.class.path").split(":"));
        if (ClusterRunTest.class.getClassLoader() instanceof URLClassLoader loader) {
            entries = Stream.concat(Arrays.stream(loader.getURLs()).map(URL::getPath), entries);
        }
        return entries.map(entry -> Path.of(entry).toAbsolutePath().toString()).collect(Collectors.joining(":"));
    }

    private static List<String> overrides(Path run) {
        return List.of(
                "data.train_files=" + GoldenModel.path("/data/gsm8k/test.jsonl"),
                "model.path=" + GoldenModel.named("qwen2").folder(),
                "critic.enable=true",
                "critic.optim.lr=0.001",
                "critic.optim.eps=0.001",
                "trainer.total_training_steps=2",
                "trainer.nccl_timeout=60",
                "trainer.default_local_dir=" + run);
    }

    private List<String> cluster() throws IOException {
        Path script = Files.writeString(
                folder.resolve("gpus.sh"), "#!/bin/sh\necho '{\"name\": \"gpu\", \"addresses\": [\"0\",\"1\"]}'\n");
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
        return List.of(
                "spark.master=local-cluster[1,2,2048]",
                "spark.ui.enabled=false",
                "spark.driver.host=127.0.0.1",
                "spark.driver.bindAddress=127.0.0.1",
                "spark.sql.shuffle.partitions=2",
                "spark.sql.session.timeZone=UTC",
                "spark.executor.memory=700m",
                "spark.executor.extraClassPath=" + classPath(),
                "spark.executor.extraJavaOptions=-Dai.djl.offline=true " + SHORT_LIVED,
                "spark.executorEnv.BELLOWS_DEVICE=cpu",
                "spark.executor.cores=1",
                "spark.worker.resource.gpu.amount=2",
                "spark.worker.resource.gpu.discoveryScript=" + script,
                "spark.executor.resource.gpu.amount=1",
                "spark.task.resource.gpu.amount=1");
    }
}
