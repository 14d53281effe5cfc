package io.bellows.benchmarks;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.run.Progress;
import io.bellows.run.RunSummary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.apache.spark.sql.SparkSession;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The same run on one, two and four executors: whether the loss curves agree, and where the time goes. */
@Command(
        name = "executors",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description = "Runs the same on several numbers of executors, and prints a JSON line for each.")
final class ExecutorsBenchmark implements Callable<Integer> {

    private static final List<String> CURVES =
            List.of("actor/pg_loss", "actor/kl_loss", "actor/grad_norm", "actor/ppo_kl", "critic/rewards/mean");
    private static final String UPDATE = "timing_s/update_actor";
    private static final String COMMUNICATION = "timing_s/actor_communication";
    private static final double TOLERANCE = 1e-4;

    @Option(names = "--executors", split = ",", defaultValue = "1,2,4", description = "How many, one after the other.")
    private List<Integer> executors;

    @Option(names = "--iterations", defaultValue = "10", description = "Iterations of each run.")
    private int iterations;

    @Option(names = "--work", description = "Folder for runs, made if needed; default: a temporary one.")
    private Path work;

    @Parameters(arity = "0..*", description = "Settings of the run, as key=value.")
    private String[] settings = {};

    private RunSummary first;

    @Override
    public Integer call() throws Exception {
        work = Files.createDirectories(work == null ? Files.createTempDirectory("bellows-executors") : work)
                .toRealPath();
        boolean same = true;
        for (int count : executors) {
            Path folder = Files.createDirectories(work.resolve("executors-" + count));
            Path seen = Files.createDirectories(folder.resolve("addresses"));
            Map<String, String> plugin =
                    Map.of("spark.plugins", AddressPlugin.class.getName(), AddressPlugin.FOLDER, seen.toString());
            try (SparkSession spark = LocalCluster.start(folder, count, plugin)) {
                TinyRun run = new TinyRun(folder.resolve("run"), iterations, settings);
                RunSummary summary = run.train(spark, Progress.NONE);
                first = first == null ? summary : first;
                double difference = difference(summary);
                same &= difference <= TOLERANCE;
                print(count, summary, difference, seen);
            }
        }
        return same ? 0 : 1;
    }

    /** The largest difference of a curve from that of the first run. */
    private double difference(RunSummary run) {
        double largest = 0;
        for (int i = 0; i < iterations; i++) {
            for (String curve : CURVES) {
                double here = run.metrics().get(i).get(curve);
                largest =
                        Math.max(largest, Math.abs(here - first.metrics().get(i).get(curve)));
            }
        }
        return largest;
    }

    private static void print(int count, RunSummary summary, double difference, Path seen) throws IOException {
        ObjectNode result = new ObjectMapper()
                .createObjectNode()
                .put("benchmark", "executors")
                .put("executors", count)
                .put("iterations", summary.iterations())
                .put("seconds", summary.seconds())
                .put("largest_difference", difference);
        try (Stream<Path> files = Files.list(seen)) {
            files.map(file -> file.getFileName().toString()).sorted().forEach(result.putArray("addresses")::add);
        }
        summary.metrics().get(0).keySet().stream()
                .filter(name -> name.startsWith("timing_s/"))
                .forEach(name -> result.put(name, mean(summary, name)));
        if (count > 1) {
            result.put("share_of_communication", mean(summary, COMMUNICATION) / mean(summary, UPDATE));
        }
        System.out.println(result);
    }

    /** Over all iterations but the first, which loads the model. */
    private static double mean(RunSummary summary, String name) {
        return summary.metrics().stream()
                .skip(1)
                .mapToDouble(metrics -> metrics.get(name))
                .average()
                .orElse(Double.NaN);
    }
}
