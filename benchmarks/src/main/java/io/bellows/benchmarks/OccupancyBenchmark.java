package io.bellows.benchmarks;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.bellows.config.BellowsConfig;
import io.bellows.data.PromptSchema;
import io.bellows.engine.EngineStats;
import io.bellows.engine.InferenceEngine;
import io.bellows.env.EnvironmentSettings;
import io.bellows.resident.ExecutorHost;
import io.bellows.resident.ExecutorHost.Role;
import io.bellows.resident.ResidentSettings;
import io.bellows.resident.WeightsRef;
import io.bellows.stage.RolloutSampling;
import io.bellows.stage.RolloutStage;
import io.bellows.text.Message;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** How many of the engine's slots are occupied while trajectories of several turns wait for their environment in between. */
@Command(
        name = "occupancy",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description = "Rolls out trajectories of four turns, twice as many at once as the engine has slots, by the"
                + " stage that training uses, and measures the share of occupied slots.")
final class OccupancyBenchmark implements Callable<Integer> {

    private static final String RUN = "occupancy";
    private static final int SAMPLES = 4; // of a prompt

    @Option(names = "--model", description = "Folder of the model; default: data-samples/starter.")
    private Path model = home("data-samples/starter");

    @Option(names = "--slots", defaultValue = "32", description = "Slots; twice as many trajectories run at once.")
    private int slots;

    @Option(names = "--trajectories", defaultValue = "384", description = "Trajectories, four for each prompt.")
    private int trajectories;

    @Option(names = "--answer-ms", defaultValue = "20", description = "Milliseconds that the environment thinks.")
    private int answerMillis;

    /** Slots that were occupied from one moment to the next. */
    private record Moment(long nanos, int active) {}

    @Override
    public Integer call() throws IOException { // Spark's session closes so
        System.setProperty(FourTurns.ANSWER_MILLIS, String.valueOf(answerMillis));
        try (SparkSession spark = SparkSession.builder()
                .master("local[1]")
                .appName(RUN)
                .config("spark.ui.enabled", false)
                .getOrCreate()) {
            BellowsConfig config = BellowsConfig.load(null, settings());
            ResidentSettings resident = ResidentSettings.of(config);
            WeightsRef weights = WeightsRef.initial(config.model().path());
            RolloutStage stage = new RolloutStage(
                    RUN, resident, RolloutSampling.training(config), EnvironmentSettings.of(config), 1);
            InferenceEngine engine =
                    ExecutorHost.model(RUN, Role.POLICY, weights, resident).engine(weights);
            stage.run(prompts(spark, 2 * slots / SAMPLES), 0, weights).collectAsList(); // warm
            List<Moment> moments = new ArrayList<>();
            AtomicBoolean over = new AtomicBoolean();
            Thread watch = new Thread(() -> watch(engine, moments, over), "watch");
            watch.start();
            List<Row> rows;
            try {
                rows = stage.run(prompts(spark, trajectories / SAMPLES), 1, weights)
                        .collectAsList();
            } finally {
                over.set(true);
                join(watch);
            }
            print(moments, rows);
            return 0;
        } finally {
            ExecutorHost.release(RUN);
        }
    }

    /** Hot sampling from 259 tokens, of which some end a turn: lengths of turns are geometric, as those of real ones are long-tailed. */
    private List<String> settings() {
        return List.of(
                "data.train_files=" + home("data-samples/sums/train.jsonl"),
                "data.max_prompt_length=64",
                "data.max_response_length=190",
                "model.path=" + model.toAbsolutePath(),
                "rollout.n=" + SAMPLES,
                "rollout.temperature=50",
                "rollout.stop=[a, e, i, o, u, s, t, n, '1', '2', '3', '4']",
                "rollout.max_num_seqs=" + slots,
                "rollout.agent.default_agent_loop=" + FourTurns.NAME);
    }

    private static Path home(String file) {
        return Path.of(System.getProperty("bellows.home", "."), file);
    }

    private static Dataset<Row> prompts(SparkSession spark, int number) {
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            Row message = PromptSchema.row(Message.of("user", "What is " + i + " + " + (7 * i % 50) + "?"));
            rows.add(RowFactory.create(
                    "benchmark:" + i, (long) i, "benchmark", List.of(message), null, null, "{}", null, 32, i));
        }
        return spark.createDataFrame(rows, PromptSchema.PROMPT.add("position", DataTypes.IntegerType, false));
    }

    /** Notes what the engine says of itself, from its first step on. */
    private static void watch(InferenceEngine engine, List<Moment> moments, AtomicBoolean over) {
        long before = engine.stats().steps();
        while (!over.get()) {
            EngineStats stats = engine.stats();
            if (stats.steps() > before) {
                moments.add(new Moment(System.nanoTime(), stats.active()));
            }
            LockSupport.parkNanos(200_000);
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Cannot measure: interrupted", e);
        }
    }

    private void print(List<Moment> moments, List<Row> rows) {
        long first = moments.get(0).nanos();
        long last = moments.get(moments.size() - 1).nanos();
        long tokens = rows.stream()
                .flatMap(row -> row.<Integer>getList(row.fieldIndex("response_mask")).stream())
                .mapToLong(Integer::longValue)
                .sum();
        double turns = rows.stream()
                .mapToInt(row -> row.getList(row.fieldIndex("turns")).size())
                .sum();
        System.out.println(new ObjectMapper()
                .createObjectNode()
                .put("benchmark", "occupancy")
                .put("slots", slots)
                .put("trajectories_at_once", 2 * slots)
                .put("trajectories", trajectories)
                .put("turns_per_trajectory", turns / trajectories)
                .put("tokens_per_turn", tokens / turns)
                .put("answer_ms", answerMillis)
                .put("seconds", (last - first) / 1e9)
                .put("tokens_per_second", tokens / ((last - first) / 1e9))
                .put("occupied_until_the_last_tenth", occupied(moments, first, first + (last - first) / 10 * 9))
                .put("occupied", occupied(moments, first, last)));
    }

    /** The mean share of occupied slots over a stretch of time. */
    private double occupied(List<Moment> moments, long from, long to) {
        double slotNanos = 0;
        for (int i = 1; i < moments.size() && moments.get(i).nanos() <= to; i++) {
            slotNanos += (double) moments.get(i - 1).active()
                    * (moments.get(i).nanos() - moments.get(i - 1).nanos());
        }
        return slotNanos / slots / (to - from);
    }
}
