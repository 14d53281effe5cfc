package io.bellows.benchmarks;

import ai.djl.Device;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.config.BellowsConfig;
import io.bellows.model.Kernels;
import io.bellows.run.PosixFileSystem;
import io.bellows.run.Progress;
import io.bellows.run.TrainLoop;
import java.io.IOException;
import java.io.Reader;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.apache.spark.sql.SparkSession;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Whole iterations of GRPO on a random model: prompts in, a checkpoint and four tables out. */
@Command(
        name = "iteration",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description = {
            "Measures whole iterations in local mode, stage by stage, beside the rate of a matrix product after each.",
            "With --size TINY the model's work is next to nothing: what is left is Spark's and ours."
        })
final class IterationBenchmark implements Callable<Integer> {

    private static final String TIMING = "timing_s/";

    @Option(names = "--size", defaultValue = "S", description = "${COMPLETION-CANDIDATES}")
    private ModelSize size;

    @Option(names = "--prompts", defaultValue = "16", description = "Prompts of an iteration.")
    private int prompts;

    @Option(names = "--samples", defaultValue = "8", description = "Samples of a prompt.")
    private int samples;

    @Option(names = "--prompt", defaultValue = "64", description = "Tokens of a prompt.")
    private int prompt;

    @Option(names = "--new", defaultValue = "64", description = "Most tokens of a response.")
    private int response;

    @Option(names = "--end", defaultValue = "-1", description = "Id of the token that ends a response; -1: none does.")
    private int end;

    @Option(names = "--iterations", defaultValue = "6", description = "Measured iterations, after one that is not.")
    private int iterations;

    @Option(
            names = "--work",
            description = "Empty folder for model and run; default: a temporary one, removed in the end.")
    private Path work;

    @Parameters(arity = "0..*", description = "Settings of the run, as key=value, such as actor.use_kl_loss=true.")
    private List<String> settings = List.of();

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        if (iterations < 1) {
            throw new ParameterException(
                    spec.commandLine(), "Invalid --iterations=" + iterations + ": expected 1 or more");
        }
        System.out.println(measure());
        return 0;
    }

    /** Runs the iterations; what is returned is the line to print. */
    ObjectNode measure() throws IOException {
        if (work != null) {
            return run(Files.createDirectories(work));
        }
        Path temporary = Files.createTempDirectory("bellows-iteration");
        try {
            return run(temporary);
        } finally {
            delete(temporary);
        }
    }

    private ObjectNode run(Path folder) throws IOException {
        RandomModel model = RandomModel.write(folder, size, end, prompts, prompt);
        try (Kernels kernels = Kernels.load(Device.cpu());
                Machine machine = new Machine(kernels);
                SparkSession spark = session(folder)) {
            List<Stopwatch> walls = new ArrayList<>();
            List<Double> products = new ArrayList<>();
            Stopwatch[] since = {Stopwatch.start()};
            Progress each = new AfterIteration(() -> {
                walls.add(since[0].stop());
                products.add(machine.sgemm().seconds());
                since[0] = Stopwatch.start();
            });
            List<Map<String, Double>> metrics =
                    new TrainLoop(spark, config(model, folder), each).run().metrics();
            return result(metrics, walls, products)
                    .put("parameters", Files.size(model.folder().resolve("model.safetensors")) / Float.BYTES)
                    .put("heap_mb", heap());
        }
    }

    /** What of the Java heap is in use, in MB, when nothing else is left to collect. */
    private static long heap() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() >> 20;
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    /** As {@code bin/bellows} opens it. */
    private SparkSession session(Path folder) throws IOException {
        Properties properties = new Properties();
        try (Reader file =
                Files.newBufferedReader(Path.of(System.getProperty("bellows.home", "."), "conf/spark-local.conf"))) {
            properties.load(file);
        }
        SparkSession.Builder builder = SparkSession.builder().appName("benchmark");
        properties.stringPropertyNames().forEach(name -> builder.config(name, properties.getProperty(name)));
        return builder.config("spark.driver.host", "127.0.0.1")
                .config("spark.driver.bindAddress", "127.0.0.1")
                .config("spark.sql.session.timeZone", "UTC")
                .config(PosixFileSystem.SETTING, PosixFileSystem.class.getName())
                .config("spark.sql.shuffle.partitions", Runtime.getRuntime().availableProcessors())
                .config("spark.sql.warehouse.dir", folder.resolve("warehouse").toString())
                .getOrCreate();
    }

    private BellowsConfig config(RandomModel model, Path folder) {
        List<String> run = new ArrayList<>(List.of(
                "data.train_files=" + model.prompts(),
                "data.train_batch_size=" + prompts,
                "data.max_prompt_length=" + prompt,
                "data.max_response_length=" + response,
                "model.path=" + model.folder(),
                "rollout.n=" + samples,
                "rollout.max_num_seqs=" + prompts * samples,
                "actor.ppo_mini_batch_size=" + prompts,
                "actor.optim.lr=1e-6",
                "reward.functions=[{name: format_match, pattern: '[02468].*[13579]'}]",
                "trainer.total_training_steps=" + (iterations + 1),
                "trainer.default_local_dir=" + folder.resolve("run")));
        run.addAll(settings);
        return BellowsConfig.load(null, run);
    }

    /** The whole time is that from the end of an iteration to the end of the next one, its last commit included. */
    private ObjectNode result(List<Map<String, Double>> metrics, List<Stopwatch> walls, List<Double> products) {
        List<Map<String, Double>> measured = last(metrics);
        ObjectNode result = new ObjectMapper()
                .createObjectNode()
                .put("benchmark", "iteration")
                .put("size", size.name())
                .put("prompts", prompts)
                .put("samples", samples)
                .put("prompt", prompt)
                .put("new", response)
                .put("end", end)
                .put("settings", String.join(" ", settings))
                .put("threads", System.getenv("OMP_NUM_THREADS"))
                .put("iterations", iterations)
                .put("response_length", median(measured, "response_length/mean"))
                .put(
                        "seconds",
                        median(last(walls).stream().map(Stopwatch::seconds).toList()));
        ObjectNode stages = result.putObject("stages");
        measured.stream()
                .flatMap(of -> of.keySet().stream())
                .filter(name -> name.startsWith(TIMING) && !name.equals(TIMING + "step"))
                .distinct()
                .forEach(name -> stages.put(name.substring(TIMING.length()), median(measured, name)));
        return result.put("sgemm_gflops", Machine.sgemmFlops() / median(last(products)) / 1e9)
                .put("peak_rss_mb", Machine.megabytes("VmHWM"));
    }

    /** Of those that are measured: the first one warms up. */
    private <T> List<T> last(List<T> all) {
        return all.subList(all.size() - iterations, all.size());
    }

    private static double median(List<Map<String, Double>> metrics, String name) {
        return median(metrics.stream().map(of -> of.getOrDefault(name, 0.0)).toList());
    }

    private static double median(List<Double> values) {
        return Machine.median(values.stream().mapToDouble(Double::doubleValue).toArray());
    }
}
