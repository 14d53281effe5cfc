package io.bellows.benchmarks;

import ai.djl.Device;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.config.BellowsConfig;
import io.bellows.model.Kernels;
import io.bellows.run.Progress;
import io.bellows.run.TrainLoop;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Callable;
import org.apache.spark.sql.SparkSession;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

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

    @Option(names = "--work", description = "Folder for model and run, to be made; default: a temporary one.")
    private Path work;

    @Parameters(arity = "0..*", description = "Settings of the run, as key=value, such as actor.use_kl_loss=true.")
    private List<String> settings = List.of();

    @Override
    public Integer call() throws Exception {
        work = Files.createDirectories(work == null ? Files.createTempDirectory("bellows-iteration") : work);
        RandomModel model = RandomModel.write(work, size, end, prompts, prompt);
        try (Kernels kernels = Kernels.load(Device.cpu());
                Machine machine = new Machine(kernels);
                SparkSession spark = session()) {
            List<Double> products = new ArrayList<>();
            Progress productsAfter =
                    new AfterIteration(() -> products.add(machine.sgemm().seconds()));
            List<Map<String, Double>> metrics =
                    new TrainLoop(spark, config(model), productsAfter).run().metrics();
            System.out.println(result(metrics, products));
        }
        return 0;
    }

    /** As {@code bin/bellows} opens it. */
    private SparkSession session() throws IOException {
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
                .config("spark.sql.shuffle.partitions", Runtime.getRuntime().availableProcessors())
                .config("spark.sql.warehouse.dir", work.resolve("warehouse").toString())
                .getOrCreate();
    }

    private BellowsConfig config(RandomModel model) {
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
                "trainer.default_local_dir=" + work.resolve("run")));
        run.addAll(settings);
        return BellowsConfig.load(null, run);
    }

    private ObjectNode result(List<Map<String, Double>> metrics, List<Double> products) {
        List<Map<String, Double>> measured = metrics.subList(1, metrics.size());
        ObjectNode result = new ObjectMapper()
                .createObjectNode()
                .put("benchmark", "iteration")
                .put("size", size.name())
                .put("prompts", prompts)
                .put("samples", samples)
                .put("prompt", prompt)
                .put("new", response)
                .put("response_length", median(measured, "response_length/mean"))
                .put("seconds", median(measured, "timing_s/step"));
        ObjectNode stages = result.putObject("stages");
        measured.get(0).keySet().stream()
                .filter(name -> name.startsWith(TIMING) && !name.equals(TIMING + "step"))
                .forEach(name -> stages.put(name.substring(TIMING.length()), median(measured, name)));
        return result.put("sgemm_gflops", Machine.sgemmFlops() / median(products) / 1e9)
                .put("peak_rss_mb", Machine.megabytes("VmHWM"));
    }

    private static double median(List<Map<String, Double>> metrics, String name) {
        return median(metrics.stream().map(of -> of.get(name)).toList());
    }

    private static double median(List<Double> values) {
        return Machine.median(values.stream().mapToDouble(Double::doubleValue).toArray());
    }
}
