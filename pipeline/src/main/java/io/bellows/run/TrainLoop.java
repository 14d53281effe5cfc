package io.bellows.run;

import static org.apache.spark.sql.functions.lit;

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
import io.bellows.resident.WeightsRef;
import io.bellows.stage.Cluster;
import io.bellows.stage.RewardDivergence;
import io.bellows.stage.UpdateStage;
import io.bellows.trajectory.Table;
import io.bellows.udfs.loss.KlController;
import io.bellows.udfs.loss.KlPenalty;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.storage.StorageLevel;

/**
 * Reinforcement learning from the first iteration to the last: prompts, rollout, scores, log-probs, advantages, update,
 * checkpoint. Each table is committed once; a loop started again goes on at the first table that is not.
 */
public final class TrainLoop {

    private static final int ALL = Integer.MAX_VALUE;

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
        return run(ALL, Stage.UPDATE);
    }

    /** A stage of an iteration that can be run alone. */
    public enum Stage {
        /** Trajectories. */
        ROLLOUT,
        /** Their scores. */
        SCORE,
        /** Log-probs and advantages. */
        ADVANTAGE,
        /** New weights, and the commit of the iteration. */
        UPDATE
    }

    /**
     * Runs one iteration up to one of its stages. What is committed is not run again; what is missing before the stage is run.
     *
     * @param iteration counted from 1
     * @param last the last stage to run
     * @return what came out so far
     * @throws InvalidRunException if the iteration before is not committed, or the run has fewer iterations
     */
    public RunSummary run(int iteration, Stage last) {
        long start = System.nanoTime();
        Cluster.requireUsable(spark);
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
            Stages stages = Stages.of(spark, config, run.runId(), heldOut, iterations);
            progress.header(facts(run, training, iterations));
            try {
                iterate(run, training, order, stages, iterations, iteration, last);
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

    private void iterate(
            RunDirectory run,
            PromptDataset training,
            EpochOrder order,
            Stages stages,
            int iterations,
            int only,
            Stage until) {
        int next = run.latestCommittedIteration().orElse(0) + 1;
        if (only < next) {
            progress.message("iteration " + only + " of " + run.uri() + " is committed: nothing to do");
            return;
        }
        if (only != ALL && (only > next || only > iterations)) {
            throw new InvalidRunException("Cannot run iteration " + only + " of " + run.uri() + ": the next one is "
                    + next + " of " + iterations + "; run the stages of that one first");
        }
        Models models = Models.of(config, run.latestCheckpoint());
        if (run.latestCommittedIteration().isEmpty() && config.trainer().valBeforeTrain()) {
            validateFirst(run, stages, models.policy());
        }
        run.latestCommittedIteration().ifPresent(last -> {
            if (last > 0) {
                progress.message("continuing after iteration " + last + " of " + run.uri());
            }
        });
        RolloutRounds rollouts = new RolloutRounds(config, training, order, stages, progress);
        for (int i = next; i <= Math.min(iterations, only); i++) {
            models = iterate(run, stages, rollouts, models, i, i == iterations, until);
        }
    }

    /** Iteration 0 holds nothing but the validation of the model that the run starts from. */
    private void validateFirst(RunDirectory run, Stages stages, WeightsRef weights) {
        if (stages.validation() == null) {
            return;
        }
        Map<String, Double> metrics = new LinkedHashMap<>();
        metrics.put("training/global_step", 0.0);
        validate(stages, 0, weights, new StageTimer(spark, progress, 0, metrics), metrics);
        commitMetrics(run, 0, metrics, IterationState.initial(config.trainer().seed(), null), List.of());
    }

    private Models iterate(
            RunDirectory run, Stages stages, RolloutRounds rollouts, Models models, int iteration, boolean last, Stage until) {
        long start = System.nanoTime();
        IterationState state =
                run.latestState().orElse(IterationState.initial(config.trainer().seed(), null));
        Map<String, Double> metrics = new LinkedHashMap<>();
        metrics.put("training/global_step", (double) iteration);
        metrics.put("training/epoch", (double) state.cursor().epoch());
        StageTimer timer = new StageTimer(spark, progress, iteration, metrics);

        if (until == Stage.ROLLOUT) {
            rollouts.sample(run, iteration, models.policy(), state, timer);
            return models;
        }
        RolloutRounds.Collected sampled = rollouts.collect(run, iteration, models.policy(), state, timer);
        if (until == Stage.SCORE) {
            return models;
        }
        long rows = (long) sampled.groups().size() * config.rollout().n();

        KlController kl = config.algorithm().klController(state.klCoef());
        Dataset<Row> experience = experience(run, stages, sampled, kl.coefficient(), models, iteration, timer);
        if (until == Stage.ADVANTAGE) {
            return models;
        }

        CheckpointAttempt attempt = run.beginCheckpoint(iteration);
        Path folder = attempt.localPath();
        ModelUpdate.Input input = new ModelUpdate.Input(sampled.trajectories(), experience, iteration);
        UpdateStage.Result critic = stages.critic() == null
                ? null
                : timer.time(
                        "update_critic",
                        rows,
                        "trajectories",
                        () -> stages.critic().run(input, models.critic(), folder));
        UpdateStage.Result actor = timer.time(
                "update_actor",
                rows,
                "trajectories",
                () -> iteration <= config.trainer().criticWarmup()
                        ? stages.actor().keep(spark, models.policy(), folder)
                        : stages.actor().run(input, models.policy(), folder));
        Checkpoint checkpoint = timer.time("save_checkpoint", 1, "checkpoints", () -> run.publish(attempt));
        Models updated = Models.checkpointed(checkpoint, actor.weightsId(), critic == null ? null : critic.weightsId());

        metrics.putAll(sampled.metrics());
        metrics.putAll(actor.metrics().values());
        if (critic != null) {
            metrics.putAll(critic.metrics().values());
        }
        metrics.putAll(IterationMetrics.of(
                run.committed(iteration, Table.TRAJECTORIES), run.committed(iteration, Table.SCORES), experience));
        if (config.algorithm().rolloutCorrection().isActive() && stages.correction() != null) {
            metrics.putAll(stages.correction()
                    .metrics(run.committed(iteration, Table.TRAJECTORIES), experience)
                    .values());
        }
        if (stages.validation() != null && (last || isDue(config.trainer().testFreq(), iteration))) {
            validate(stages, iteration, updated.policy(), timer, metrics);
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        metrics.put("timing_s/step", seconds);
        metrics.put("perf/time_per_step", seconds);
        metrics.put("perf/throughput", metrics.getOrDefault("perf/total_num_tokens", 0.0) / seconds);
        Double nextKlCoef = nextKlCoef(kl, stages, sampled, experience, metrics);
        commitMetrics(
                run,
                iteration,
                metrics,
                IterationState.of(
                                checkpoint,
                                sampled.next(),
                                actor.optimizerSteps(),
                                config.trainer().seed(),
                                nextKlCoef)
                        .withCarriedGroups(sampled.carried()),
                Stream.concat(
                                sampled.reads().stream(),
                                run.manifests(iteration, Table.EXPERIENCE).stream()
                                        .map(Manifest::ref))
                        .toList());
        return updated;
    }

    private static void validate(
            Stages stages, int iteration, WeightsRef weights, StageTimer timer, Map<String, Double> metrics) {
        Validation validation = stages.validation();
        metrics.putAll(timer.time(
                "testing", validation.prompts().size(), "prompts", () -> validation.run(iteration, weights)));
    }

    /** The log-probs are kept until the experience is committed: whatever reads them twice, the models run once. */
    private Dataset<Row> experience(
            RunDirectory run,
            Stages stages,
            RolloutRounds.Collected sampled,
            double klCoef,
            Models models,
            int iteration,
            StageTimer timer) {
        long rows = (long) sampled.groups().size() * config.rollout().n();
        Dataset<Row> logProbs = stages.scored(sampled.trajectories(), models).persist(StorageLevel.DISK_ONLY());
        try {
            return timer.time(
                    "old_log_prob",
                    rows,
                    "trajectories",
                    () -> run.commitTable(
                            iteration,
                            Table.EXPERIENCE,
                            () -> stages.experience(logProbs, sampled.scores(), klCoef)
                                    .withColumn("iteration", lit(iteration)),
                            ManifestExtras.NONE
                                    .withReads(sampled.reads())
                                    .withLeastRows(rows)
                                    .withWeightsVersion(models.policy().version())));
        } finally {
            logProbs.unpersist();
        }
    }

    /** Notes the divergence that was in the reward; returns its next weight, or null where it is not in the reward. */
    private Double nextKlCoef(
            KlController kl,
            Stages stages,
            RolloutRounds.Collected sampled,
            Dataset<Row> experience,
            Map<String, Double> metrics) {
        KlPenalty kind = stages.advantage().klPenalty();
        if (kind == null) {
            return null;
        }
        double divergence = RewardDivergence.mean(kind, sampled.trajectories(), experience);
        metrics.put("actor/reward_kl_penalty", divergence);
        metrics.put("actor/reward_kl_penalty_coeff", kl.coefficient());
        return kl.after(
                        divergence,
                        (long) sampled.groups().size() * config.rollout().n())
                .coefficient();
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

    private static boolean isDue(int frequency, int iteration) {
        return frequency > 0 && iteration % frequency == 0;
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
