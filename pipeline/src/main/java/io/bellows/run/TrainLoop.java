package io.bellows.run;

import static org.apache.spark.sql.functions.col;

import io.bellows.config.BellowsConfig;
import io.bellows.data.DatasetOptions;
import io.bellows.data.DatasetOptions.Completions;
import io.bellows.data.EpochOrder;
import io.bellows.data.EpochOrder.Remainder;
import io.bellows.data.EpochOrder.Shuffle;
import io.bellows.data.PromptDataset;
import io.bellows.data.PromptLength;
import io.bellows.model.ModelConfig;
import io.bellows.resident.ExecutorHost;
import io.bellows.resident.ResidentModel;
import io.bellows.resident.WeightsRef;
import io.bellows.stage.UpdateStage;
import io.bellows.trajectory.Table;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Reinforcement learning from the first iteration to the last: prompts, rollout, scores, log-probs, advantages, update,
 * checkpoint. Each table is committed once; a loop started again goes on at the first table that is not.
 */
public final class TrainLoop {

    private final SparkSession spark;
    private final BellowsConfig config;
    private final Progress progress;

    /**
     * Creates the loop.
     *
     * @param spark the session
     * @param config a checked configuration
     * @param progress told how it goes
     */
    public TrainLoop(SparkSession spark, BellowsConfig config, Progress progress) {
        this.spark = spark;
        this.config = config;
        this.progress = progress;
    }

    /**
     * Trains to the end, from where the run directory stopped.
     *
     * @return what came out
     * @throws InvalidRunException if the run directory cannot be continued with this configuration
     */
    public RunSummary run() {
        long start = System.nanoTime();
        try (RunDirectory run = RunDirectory.start(spark, config);
                PromptDataset training =
                        load(config.data().trainFiles(), config.data().trainMaxSamples());
                PromptDataset heldOut = config.data().valFiles().isEmpty()
                        ? null
                        : load(config.data().valFiles(), config.data().valMaxSamples())) {
            progress.message("training data: " + training.report().summary());
            if (heldOut != null) {
                progress.message("validation data: " + heldOut.report().summary());
            }
            EpochOrder order = new EpochOrder(
                    training.size(),
                    config.dataSeed(),
                    config.data().shuffle() ? Shuffle.EACH_EPOCH : Shuffle.NONE,
                    Remainder.DROP);
            int iterations = iterations(order);
            long stepsPerIteration = stepsPerIteration();
            Stages stages = Stages.of(spark, config, run.runId(), heldOut, iterations * stepsPerIteration);
            progress.header(facts(run, training, iterations));
            try {
                iterate(run, training, order, stages, iterations);
            } finally {
                ExecutorHost.release(run.runId());
            }
            return summary(run, (System.nanoTime() - start) / 1e9);
        }
    }

    private PromptDataset load(List<String> files, int maxSamples) {
        return PromptDataset.load(
                spark,
                files,
                DatasetOptions.from(config.data(), Completions.OPTIONAL).withMaxSamples(maxSamples),
                PromptLength.ofModel(
                        Path.of(config.model().path()), config.data().applyChatTemplateKwargs()));
    }

    private int iterations(EpochOrder order) {
        Integer steps = config.trainer().totalTrainingSteps();
        return steps != null
                ? steps
                : Math.toIntExact(order.batchesPerEpoch(config.data().trainBatchSize())
                        * config.trainer().totalEpochs());
    }

    /** Optimizer steps of an iteration, as many as its update plan makes. */
    private long stepsPerIteration() {
        int groups = config.data().trainBatchSize();
        int perStep = config.actor().ppoMiniBatchSize();
        return (long) ((groups + perStep - 1) / perStep) * config.actor().ppoEpochs();
    }

    private void iterate(RunDirectory run, PromptDataset training, EpochOrder order, Stages stages, int iterations) {
        WeightsRef weights = run.latestCheckpoint()
                .map(c -> ResidentModel.checkpointed(c.manifestSha256(), c.iteration(), c.localPath()))
                .orElse(WeightsRef.initial(config.model().path()));
        if (run.latestCommittedIteration().isEmpty() && config.trainer().valBeforeTrain()) {
            validateFirst(run, stages, weights);
        }
        run.latestCommittedIteration().ifPresent(last -> {
            if (last > 0) {
                progress.message("continuing after iteration " + last + " of " + run.uri());
            }
        });
        for (int i = run.latestCommittedIteration().orElse(0) + 1; i <= iterations; i++) {
            IterationState state = run.latestState()
                    .orElse(IterationState.initial(config.trainer().seed(), null));
            EpochOrder.Batch batch = order.batch(state.cursor(), config.data().trainBatchSize());
            weights = iterate(run, stages, training.batch(batch), batch, weights, i, i == iterations);
        }
    }

    /** Iteration 0 holds nothing but the validation of the model that the run starts from. */
    private void validateFirst(RunDirectory run, Stages stages, WeightsRef weights) {
        if (stages.validation() == null) {
            return;
        }
        Map<String, Double> metrics = new LinkedHashMap<>();
        metrics.put("training/global_step", 0.0);
        timed(metrics, "testing", 0, stages.validation().prompts().size(), "prompts", () -> {
            metrics.putAll(stages.validation().run(0, weights));
            return null;
        });
        commitMetrics(run, 0, metrics, IterationState.initial(config.trainer().seed(), null), List.of());
    }

    private WeightsRef iterate(
            RunDirectory run,
            Stages stages,
            Dataset<Row> prompts,
            EpochOrder.Batch batch,
            WeightsRef weights,
            int iteration,
            boolean last) {
        long start = System.nanoTime();
        Map<String, Double> metrics = new LinkedHashMap<>();
        metrics.put("training/global_step", (double) iteration);
        metrics.put("training/epoch", (double) batch.cursor().epoch());
        long samples = (long) batch.rowIndices().length * config.rollout().n();

        Dataset<Row> trajectories = timed(
                metrics,
                "gen",
                iteration,
                samples,
                "trajectories",
                () -> run.commitTable(
                        iteration,
                        Table.TRAJECTORIES,
                        () -> stages.rollout().run(prompts, iteration, weights),
                        ManifestExtras.NONE.withExpectedRows(samples).withWeightsVersion(weights.version())));

        Dataset<Row> scores = timed(
                metrics,
                "reward",
                iteration,
                samples,
                "trajectories",
                () -> run.commitTable(
                        iteration,
                        Table.SCORES,
                        () -> stages.score().run(trajectories),
                        reads(run, iteration, Table.TRAJECTORIES).withExpectedRows(samples)));
        refuseUnusable(scores, iteration);

        Dataset<Row> experience = timed(
                metrics,
                "old_log_prob",
                iteration,
                samples,
                "trajectories",
                () -> run.commitTable(
                        iteration,
                        Table.EXPERIENCE,
                        () -> stages.advantage()
                                .run(stages.logProbs().run(trajectories, weights, stages.reference()), scores),
                        reads(run, iteration, Table.TRAJECTORIES, Table.SCORES)
                                .withExpectedRows(samples)
                                .withWeightsVersion(weights.version())));

        CheckpointAttempt attempt = run.beginCheckpoint(iteration);
        UpdateStage.Result update = timed(
                metrics,
                "update_actor",
                iteration,
                samples,
                "trajectories",
                () -> stages.update()
                        .run(stages.plan().rows(trajectories, experience, iteration), weights, attempt.localPath()));
        Checkpoint checkpoint =
                timed(metrics, "save_checkpoint", iteration, 1, "checkpoints", () -> run.publish(attempt));
        WeightsRef updated = ResidentModel.checkpointed(update.weightsId(), iteration, checkpoint.localPath());

        metrics.putAll(update.metrics().values());
        metrics.putAll(IterationMetrics.of(trajectories, scores, experience));
        if (stages.validation() != null && (last || isDue(config.trainer().testFreq(), iteration))) {
            timed(metrics, "testing", iteration, stages.validation().prompts().size(), "prompts", () -> {
                metrics.putAll(stages.validation().run(iteration, updated));
                return null;
            });
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        metrics.put("timing_s/step", seconds);
        metrics.put("perf/time_per_step", seconds);
        metrics.put("perf/throughput", metrics.getOrDefault("perf/total_num_tokens", 0.0) / seconds);
        commitMetrics(
                run,
                iteration,
                metrics,
                IterationState.of(
                        checkpoint,
                        batch.next(),
                        update.optimizerSteps(),
                        config.trainer().seed(),
                        null),
                reads(run, iteration, Table.TRAJECTORIES, Table.SCORES, Table.EXPERIENCE)
                        .reads());
        return updated;
    }

    private void commitMetrics(
            RunDirectory run,
            int iteration,
            Map<String, Double> metrics,
            IterationState state,
            List<ManifestRef> reads) {
        run.commitTable(
                iteration,
                Table.METRICS,
                () -> MetricRows.of(spark, run.runId(), iteration, metrics),
                ManifestExtras.NONE.withReads(reads).withState(state));
        progress.metrics(iteration, metrics);
    }

    private void refuseUnusable(Dataset<Row> scores, int iteration) {
        Dataset<Row> failures = scores.where(col("status").equalTo("failed"));
        long failed = failures.count();
        long all = scores.count();
        if (failed > config.reward().maxErrorRate() * all) {
            throw new InvalidRunException("Cannot go on with iteration " + iteration + ": " + failed + " of " + all
                    + " rewards failed, more than reward.max_error_rate="
                    + config.reward().maxErrorRate()
                    + " allows; raise it, or mend what failed and delete manifest.json of the scores. The first: "
                    + firstMessage(failures));
        }
        if (scores.where(col("reward").isNotNull()).isEmpty()) {
            throw new InvalidRunException("Cannot update in iteration " + iteration + ": none of its " + all
                    + " trajectories has a reward, so there is nothing to learn from. The first: "
                    + firstMessage(scores));
        }
    }

    private static String firstMessage(Dataset<Row> scores) {
        return scores.orderBy("trajectory_id").select("message").head().getString(0);
    }

    private static ManifestExtras reads(RunDirectory run, int iteration, Table... tables) {
        return ManifestExtras.NONE.withReads(java.util.Arrays.stream(tables)
                .flatMap(table -> run.manifest(iteration, table).stream())
                .map(Manifest::ref)
                .toList());
    }

    private static boolean isDue(int frequency, int iteration) {
        return frequency > 0 && iteration % frequency == 0;
    }

    /** Runs a stage with its progress bar and notes its seconds. */
    private <T> T timed(
            Map<String, Double> metrics, String name, int iteration, long total, String unit, Supplier<T> stage) {
        long start = System.nanoTime();
        try (Progress.Stage bar = progress.start(iteration, name, total, unit);
                StageProgress rows = StageProgress.follow(spark, bar, total)) {
            T result = stage.get();
            rows.complete();
            metrics.put("timing_s/" + name, (System.nanoTime() - start) / 1e9);
            return result;
        }
    }

    private Map<String, String> facts(RunDirectory run, PromptDataset training, int iterations) {
        ModelConfig model = ModelConfig.read(Path.of(config.model().path()));
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put(
                "model",
                config.model().path() + " (" + model.modelType() + ", " + model.parameterCount() + " parameters)");
        facts.put(
                "data",
                training.size() + " prompts of "
                        + String.join(", ", config.data().trainFiles()));
        facts.put(
                "algorithm",
                config.algorithm().advEstimator() + ", " + iterations + " iterations of "
                        + config.data().trainBatchSize() + " prompts x "
                        + config.rollout().n() + " samples");
        facts.put("run", run.uri());
        return facts;
    }

    private static RunSummary summary(RunDirectory run, double seconds) {
        List<Map<String, Double>> metrics = MetricRows.byIteration(run.committed(Table.METRICS));
        return new RunSummary(
                run.uri(),
                run.latestCommittedIteration().orElse(0),
                accuracy(metrics.stream().limit(1).filter(first -> first.get("training/global_step") == 0)),
                accuracy(metrics.stream()),
                seconds,
                metrics);
    }

    /** The newest greedy accuracy among some iterations, of the first data source by name; NaN without validation. */
    private static double accuracy(Stream<Map<String, Double>> iterations) {
        return iterations
                .flatMap(iteration -> iteration.entrySet().stream()
                        .filter(entry -> entry.getKey().startsWith("val-core/")
                                && entry.getKey().endsWith("/acc/mean@1"))
                        .map(Map.Entry::getValue)
                        .limit(1))
                .reduce(Double.NaN, (older, newer) -> newer);
    }
}
