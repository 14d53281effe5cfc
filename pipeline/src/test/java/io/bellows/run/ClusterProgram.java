package io.bellows.run;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.config.BellowsConfig;
import io.bellows.resident.ExecutorHost;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;

/**
 * A run on a cluster of several JVMs, started as a process of its own: {@code RESULT SETTINGS key=value …}. Writes the metrics of each iteration
 * and the GPU address that each executor was given.
 */
final class ClusterProgram {

    private ClusterProgram() {}

    /** Runs. */
    public static void main(String[] arguments) throws Exception {
        List<String> overrides = Arrays.asList(arguments).subList(2, arguments.length);
        BellowsConfig config = BellowsConfig.load(Path.of(arguments[1]), overrides);
        SparkSession.Builder builder = SparkSession.builder().appName("cluster");
        config.spark().properties().forEach(builder::config);
        ObjectMapper json = new ObjectMapper();
        ObjectNode result = json.createObjectNode();
        try (SparkSession spark = builder.getOrCreate()) {
            RunSummary summary = new TrainLoop(spark, config, Progress.NONE).run();
            int executors = spark.sparkContext().statusTracker().getExecutorInfos().length - 1;
            result.put("executors", executors);
            addresses(spark, executors).forEach(result.putArray("addresses")::add);
            for (Map<String, Double> metrics : summary.metrics()) {
                ObjectNode iteration = result.withArray("metrics").addObject();
                metrics.forEach(iteration::put);
            }
            try (RunDirectory run = RunDirectory.open(spark, config.trainer().runDirectory())) {
                run.verify().forEach(result.putArray("problems")::add);
            }
        }
        Files.writeString(Path.of(arguments[0]), json.writeValueAsString(result));
    }

    /** "executor:address" of tasks that all executors run. */
    private static Set<String> addresses(SparkSession spark, int executors) {
        int tasks = Math.max(1, executors) * 4;
        return new TreeSet<>(JavaSparkContext.fromSparkContext(spark.sparkContext())
                .parallelize(java.util.stream.IntStream.range(0, tasks).boxed().toList(), tasks)
                .map(task -> {
                    Thread.sleep(50); // long enough for every executor to get some
                    return SparkEnv.get().executorId() + ":" + ExecutorHost.gpuAddress();
                })
                .collect());
    }
}
