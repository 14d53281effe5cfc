package io.bellows.run;

import static org.apache.spark.sql.functions.broadcast;

import ai.djl.Device;
import io.bellows.cluster.Cluster;
import io.bellows.config.ActorConfig;
import io.bellows.config.BellowsConfig;
import io.bellows.config.Purpose;
import io.bellows.data.Cursor;
import io.bellows.data.DatasetOptions;
import io.bellows.data.DatasetOptions.Completions;
import io.bellows.data.EpochOrder;
import io.bellows.data.EpochOrder.Remainder;
import io.bellows.data.EpochOrder.Shuffle;
import io.bellows.data.PromptDataset;
import io.bellows.data.PromptLength;
import io.bellows.model.Kernels;
import io.bellows.model.ModelConfig;
import io.bellows.model.ModelFolder;
import io.bellows.model.Weights;
import io.bellows.resident.ExecutorHost;
import io.bellows.resident.ExecutorHost.Role;
import io.bellows.resident.ResidentSettings;
import io.bellows.resident.WeightsRef;
import io.bellows.stage.UpdateStage;
import io.bellows.training.AdamW;
import io.bellows.training.LearningRateSchedule;
import io.bellows.training.Lessons;
import io.bellows.training.MicroBatching;
import io.bellows.training.SupervisedObjective;
import io.bellows.training.UpdateSettings;
import io.bellows.trajectory.Table;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.storage.StorageLevel;

/**
 * Supervised fine-tuning: the update stage of reinforcement learning with another objective. Optimizer steps between two
 * checkpoints make one iteration, which is one barrier stage and one commit.
 */
public final class SftLoop {

    private static final int DEFAULT_STEPS_PER_ITERATION = 25;
    private static final StructType PLAN = new StructType()
            .add("row_index", DataTypes.LongType, false)
            .add("mini_batch", DataTypes.IntegerType, false)
            .add("place", DataTypes.IntegerType, false)
            .add("rank", DataTypes.IntegerType, false);

    private final SparkSession spark;
    private final BellowsConfig config;
    private final Progress progress;

    /**
     * Creates the loop.
     *
     * @param spark the session
     * @param config a configuration checked for supervised fine-tuning
     * @param progress told how it goes
     */
    public SftLoop(SparkSession spark, BellowsConfig config, Progress progress) {
        this.spark = spark;
        this.config = config;
        this.progress = progress;
    }

    /**
     * Trains to the end, from where the run directory stopped.
     *
     * @return what came out
     */
    public RunSummary run() {
        long start = System.nanoTime();
        Cluster.requireUsable(spark);
        String memory = MemoryCheck.of(spark, config, Purpose.SFT, progress);
        try (RunDirectory run = RunDirectory.start(spark, config, Retention.byBlock(config.trainer()));
                PromptDataset data = load()) {
            progress.message(data.report().summary());
            WeightsRef initial = initialWeights(run);
            Dataset<Row> lessons = new Lessons(
                            initial.modelFolder(),
                            config.data().applyChatTemplateKwargs(),
                            config.data().maxResponseLength())
                    .tokenize(data.rows())
                    .persist(StorageLevel.MEMORY_AND_DISK());
            EpochOrder order = new EpochOrder(
                    data.size(),
                    config.dataSeed(),
                    config.data().shuffle() ? Shuffle.EACH_EPOCH : Shuffle.NONE,
                    Remainder.DROP);
            progress.header(facts(run, data, memory));
            try {
                train(run, lessons, order, initial);
            } finally {
                lessons.unpersist();
            }
            return summary(run, (System.nanoTime() - start) / 1e9);
        }
    }

    private PromptDataset load() {
        return PromptDataset.load(
                spark,
                config.data().trainFiles(),
                DatasetOptions.from(config.data(), Completions.REQUIRED),
                PromptLength.ofModel(
                        Path.of(config.model().path()), config.data().applyChatTemplateKwargs()));
    }

    private void train(RunDirectory run, Dataset<Row> lessons, EpochOrder order, WeightsRef initial) {
        int batchSize = config.data().trainBatchSize();
        long total = config.trainer().totalTrainingSteps() == null
                ? order.batchesPerEpoch(batchSize) * config.trainer().totalEpochs()
                : config.trainer().totalTrainingSteps();
        Cluster cluster = Cluster.of(spark, config.trainer(), progress::message);
        UpdateStage stage = new UpdateStage(
                run.runId(),
                Role.POLICY,
                ResidentSettings.of(config),
                settings(total),
                Duration.ofSeconds(config.trainer().ncclTimeout()));
        IterationState state =
                run.latestState().orElse(IterationState.initial(config.trainer().seed(), null));
        WeightsRef weights = run.latestCheckpoint()
                .map(c -> Models.checkpointed(c, c.manifestSha256(), null, 0).policy())
                .orElse(initial);
        try {
            while (state.optimizerSteps() < total) {
                int iteration = run.latestCommittedIteration().orElse(0) + 1;
                int steps = (int) Math.min(stepsPerIteration(), total - state.optimizerSteps());
                int ranks = cluster.ranks();
                Dataset<Row> plan = plan(order, state.cursor(), batchSize, steps, ranks);
                Cursor next = cursorAfter(order, state.cursor(), batchSize, steps);
                CheckpointAttempt attempt = run.beginCheckpoint(iteration);
                UpdateStage.Result result;
                try (Progress.Stage stageProgress = progress.start(iteration, "update", steps, "steps")) {
                    result = stage.run(lessons.join(broadcast(plan), "row_index"), weights, attempt.localPath(), ranks);
                    stageProgress.advance(steps);
                }
                Checkpoint checkpoint = run.publish(attempt);
                state = IterationState.of(
                        checkpoint,
                        next,
                        result.optimizerSteps(),
                        config.trainer().seed(),
                        null);
                Map<String, Double> metrics =
                        new LinkedHashMap<>(result.metrics().values());
                metrics.put("training/global_step", (double) result.optimizerSteps());
                run.commitTable(
                        iteration,
                        Table.METRICS,
                        () -> MetricRows.of(spark, run.runId(), iteration, metrics),
                        ManifestExtras.NONE.withState(state));
                progress.metrics(iteration, metrics);
                weights = Models.checkpointed(checkpoint, result.weightsId(), null, ranks)
                        .policy();
            }
        } finally {
            ExecutorHost.release(run.runId());
        }
    }

    private int stepsPerIteration() {
        int saveFrequency = config.trainer().saveFreq();
        return saveFrequency > 0 ? saveFrequency : DEFAULT_STEPS_PER_ITERATION;
    }

    private UpdateSettings settings(long totalSteps) {
        ActorConfig actor = config.actor();
        return new UpdateSettings(
                new SupervisedObjective(),
                AdamW.Settings.of(actor.optim()),
                new LearningRateSchedule(actor.optim(), totalSteps),
                actor.gradClip(),
                MicroBatching.of(config.sftLimit()));
    }

    /** Which rows each of the next optimizer steps sees, in order. */
    private Dataset<Row> plan(EpochOrder order, Cursor from, int batchSize, int steps, int ranks) {
        List<Row> rows = new ArrayList<>();
        Cursor cursor = from;
        for (int step = 0; step < steps; step++) {
            EpochOrder.Batch batch = order.batch(cursor, batchSize);
            for (int place = 0; place < batch.rowIndices().length; place++) {
                rows.add(RowFactory.create(batch.rowIndices()[place], step, place, place % ranks));
            }
            cursor = batch.next();
        }
        return spark.createDataFrame(rows, PLAN);
    }

    private static Cursor cursorAfter(EpochOrder order, Cursor from, int batchSize, int steps) {
        Cursor cursor = from;
        for (int step = 0; step < steps; step++) {
            cursor = order.batch(cursor, batchSize).next();
        }
        return cursor;
    }

    /** The model of {@code model.path}, or a random one of the shape in {@code model.init_config}, made once per run. */
    private WeightsRef initialWeights(RunDirectory run) {
        if (config.model().initConfig() == null) {
            return WeightsRef.initial(config.model().path());
        }
        Path folder = Checkpoint.local(run.uri()).resolve("initial");
        try (Kernels kernels = Kernels.load(Device.cpu())) {
            Path shape = Path.of(config.model().initConfig());
            ModelConfig modelConfig = ModelConfig.parse(shape);
            Long seed = config.model().initSeed();
            try (Weights weights = Weights.random(
                    kernels, modelConfig, seed == null ? config.trainer().seed() : seed)) {
                ModelFolder.create(Path.of(config.model().path()), folder, weights, modelConfig.storage());
            }
            Files.copy(shape, folder.resolve("config.json"), StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot create the initial model in " + folder, e);
        }
        return WeightsRef.initial(folder.toString());
    }

    private Map<String, String> facts(RunDirectory run, PromptDataset data, String memory) {
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put(
                "model",
                config.model().initConfig() == null
                        ? config.model().path()
                        : config.model().initConfig());
        facts.put("data", data.size() + " lessons");
        facts.put("algorithm", "supervised fine-tuning");
        facts.put("memory", memory);
        facts.put("run", run.uri());
        return facts;
    }

    private static RunSummary summary(RunDirectory run, double seconds) {
        return new RunSummary(
                run.uri(),
                (int) run.latestState()
                        .map(IterationState::optimizerSteps)
                        .orElse(0L)
                        .longValue(),
                Double.NaN,
                Double.NaN,
                seconds,
                MetricRows.byIteration(run.committed(Table.METRICS)));
    }
}
