package io.bellows.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.sql.SparkSession;

/**
 * A Spark of several processes on this machine: executors of one core and one native thread each, with a pretended GPU. {@code
 * benchmarks/run} sets the environment that its worker needs.
 */
final class LocalCluster {

    private static final int MEGABYTES = 700;

    private LocalCluster() {}

    /**
     * Starts one.
     *
     * @param folder for scratch files
     * @param executors how many
     * @param more further properties
     */
    static SparkSession start(Path folder, int executors, Map<String, String> more) throws IOException {
        if (System.getenv("SPARK_HOME") == null || System.getenv("SPARK_SCALA_VERSION") == null) {
            throw new IllegalStateException("Cannot start executors: SPARK_HOME and SPARK_SCALA_VERSION are not set;"
                    + " start with benchmarks/run, which sets them");
        }
        Files.createDirectories(Path.of(System.getenv("SPARK_HOME"), "jars"));
        Map<String, String> properties = new TreeMap<>(properties(folder, executors));
        properties.putAll(more);
        SparkSession.Builder builder = SparkSession.builder().appName("benchmark");
        properties.forEach(builder::config);
        SparkSession spark = builder.getOrCreate();
        int there = spark.sparkContext().statusTracker().getExecutorInfos().length - 1;
        if (there != executors) {
            spark.stop();
            throw new IllegalStateException("Cannot start " + executors + " executors: " + there + " came");
        }
        return spark;
    }

    private static Map<String, String> properties(Path folder, int executors) throws IOException {
        String worker = executors + "," + executors * 2 * MEGABYTES;
        return Map.ofEntries(
                Map.entry("spark.master", "local-cluster[1," + worker + "]"),
                Map.entry("spark.ui.enabled", "false"),
                Map.entry("spark.driver.host", "127.0.0.1"),
                Map.entry("spark.driver.bindAddress", "127.0.0.1"),
                Map.entry("spark.sql.shuffle.partitions", Integer.toString(executors)),
                Map.entry("spark.sql.session.timeZone", "UTC"),
                Map.entry("spark.sql.warehouse.dir", folder.resolve("warehouse").toString()),
                Map.entry("spark.locality.wait", "0s"),
                Map.entry("spark.scheduler.minRegisteredResourcesRatio", "1.0"),
                Map.entry("spark.scheduler.maxRegisteredResourcesWaitingTime", "120s"),
                Map.entry("spark.executor.cores", "1"),
                Map.entry("spark.cores.max", Integer.toString(executors)),
                Map.entry("spark.executor.memory", MEGABYTES + "m"),
                Map.entry("spark.executor.extraClassPath", System.getProperty("java.class.path")),
                Map.entry(
                        "spark.executor.extraJavaOptions",
                        "-Dai.djl.offline=true -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"),
                Map.entry("spark.executorEnv.BELLOWS_DEVICE", "cpu"),
                Map.entry("spark.executorEnv.OMP_NUM_THREADS", "1"),
                Map.entry("spark.worker.resource.gpu.amount", Integer.toString(executors)),
                Map.entry("spark.worker.resource.gpu.discoveryScript", discovery(folder, executors)),
                Map.entry("spark.executor.resource.gpu.amount", "1"),
                Map.entry("spark.task.resource.gpu.amount", "1"));
    }

    private static String discovery(Path folder, int executors) throws IOException {
        String addresses =
                IntStream.range(0, executors).mapToObj(i -> "\"" + i + "\"").collect(Collectors.joining(","));
        Path script = Files.writeString(
                folder.resolve("gpus.sh"),
                "#!/bin/sh\necho '{\"name\": \"gpu\", \"addresses\": [" + addresses + "]}'\n");
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
        return script.toString();
    }
}
