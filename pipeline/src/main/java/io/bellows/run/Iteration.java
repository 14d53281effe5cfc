package io.bellows.run;

import static org.apache.spark.sql.functions.udf;

import io.bellows.config.BellowsConfig;
import io.bellows.stage.RewardDivergence;
import io.bellows.stage.UpdateStage;
import io.bellows.trajectory.Table;
import io.bellows.udfs.loss.KlController;
import io.bellows.udfs.loss.KlPenalty;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.api.java.UDF0;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.storage.StorageLevel;

/** One iteration: what happens to a batch of prompts, from the rollout to the commit that ends it. */
final class Iteration {

    private final SparkSession spark;
    private final BellowsConfig config;
    private final RunDirectory run;
    private final Stages stages;
    private final int number;
    private final IterationState before;
    private final Models models;
    private final StageTimer timer;
    private final Map<String, Double> metrics = new LinkedHashMap<>();

    /**
     * Prepares an iteration.
     *
     * @param number counts from 1
     * @param before what the iteration before left behind
     * @param models the weights that it left behind
     */
    Iteration(
            SparkSession spark,
            BellowsConfig config,
            Progress progress,
            RunDirectory run,
            Stages stages,
            int number,
            IterationState before,
            Models models) {
        this.spark = spark;
        this.config = config;
        this.run = run;
        this.stages = stages;
        this.number = number;
        this.before = before;
        this.models = models;
        this.timer = new StageTimer(spark, progress, number, metrics);
    }

    /** New weights, and the optimizer steps that made them. */
    private record Updated(Models models, Checkpoint checkpoint, UpdateStage.Result actor, UpdateStage.Result critic) {}

    /** What the iteration came to. */
    record Result(Models models, Map<String, Double> metrics) {}

    /**
     * Runs what of the iteration is not committed.
     *
     * @param validates whether the new policy is validated
     * @param until the last stage to run
     * @return empty if the iteration was not brought to its end
     */
    Optional<Result> run(RolloutRounds rollouts, boolean validates, TrainLoop.Stage until) {
        long start = System.nanoTime();
        metrics.put("training/global_step", (double) number);
        metrics.put("training/epoch", (double) before.cursor().epoch());
        if (stages.load().isDue(models)) {
            loadWeights();
        }
        if (until == TrainLoop.Stage.ROLLOUT) {
            rollouts.sampleFirst(run, number, models.policy(), before, timer);
            return Optional.empty();
        }
        RolloutRounds.Collected sampled = rollouts.collect(run, number, models.policy(), before, timer);
        if (until == TrainLoop.Stage.SCORE) {
            return Optional.empty();
        }
        KlController kl = config.algorithm().klController(before.klCoef());
        Dataset<Row> experience = experience(sampled, kl.coefficient());
        if (until == TrainLoop.Stage.ADVANTAGE) {
            return Optional.empty();
        }
        Updated updated = update(sampled, experience);
        measure(sampled, experience, updated);
        Double nextKlCoef = nextKlCoef(kl, sampled, experience);
        if (validates) {
            validate(stages, number, updated.models, timer, metrics);
        }
        Pace.of(metrics, (System.nanoTime() - start) / 1e9);
        commit(sampled, updated, nextKlCoef);
        return Optional.of(new Result(updated.models, metrics));
    }

    private void loadWeights() {
        timer.time("update_weights", stages.load().executors(), "executors", () -> {
            stages.load().run(spark, models);
            return null;
        });
    }

    /** Log-probs that are read twice are kept until the experience is committed: the models run once. */
    private Dataset<Row> experience(RolloutRounds.Collected sampled, double klCoef) {
        long rows = trajectories(sampled);
        Dataset<Row> logProbs = stages.scored(sampled.trajectories(), models);
        if (stages.readsLogProbsTwice()) {
            logProbs.persist(StorageLevel.DISK_ONLY());
        }
        Supplier<Dataset<Row>> table =
                () -> stages.experience(logProbs, sampled.scores(), klCoef).withColumn("iteration", thisIteration());
        ManifestExtras extras = ManifestExtras.NONE
                .withReads(sampled.reads())
                .withLeastRows(rows)
                .withWeightsVersion(models.policy().version());
        try {
            return timer.time(
                    "old_log_prob",
                    rows,
                    "trajectories",
                    () -> run.commitTable(number, Table.EXPERIENCE, table, extras));
        } finally {
            logProbs.unpersist();
        }
    }

    /** A function that returns the number: as a literal it would be part of the code that Spark generates, and that be compiled anew each time. */
    private Column thisIteration() {
        int constant = number;
        return udf((UDF0<Integer>) () -> constant, DataTypes.IntegerType).apply();
    }

    /** The critic learns before the policy does, and alone in its warm-up; the checkpoint holds both. */
    private Updated update(RolloutRounds.Collected sampled, Dataset<Row> experience) {
        CheckpointAttempt attempt = run.beginCheckpoint(number);
        Path folder = attempt.localPath();
        ModelUpdate.Input input = new ModelUpdate.Input(sampled.trajectories(), experience, number);
        long rows = trajectories(sampled);
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
                () -> number <= config.trainer().criticWarmup()
                        ? stages.actor().keep(spark, models.policy(), folder)
                        : stages.actor().run(input, models.policy(), folder));
        Checkpoint checkpoint = timer.time("save_checkpoint", 1, "checkpoints", () -> run.publish(attempt));
        Models updated = Models.checkpointed(
                checkpoint,
                actor.weightsId(),
                critic == null ? null : critic.weightsId(),
                critic == null ? actor.ranks() : Math.min(actor.ranks(), critic.ranks()));
        return new Updated(updated, checkpoint, actor, critic);
    }

    private void measure(RolloutRounds.Collected sampled, Dataset<Row> experience, Updated updated) {
        metrics.putAll(sampled.metrics());
        metrics.putAll(updated.actor.metrics().values());
        if (updated.critic != null) {
            metrics.putAll(updated.critic.metrics().values());
        }
        metrics.putAll(IterationMetrics.sampled(
                run.committed(number, Table.TRAJECTORIES), run.committed(number, Table.SCORES)));
        metrics.putAll(IterationMetrics.learned(
                LearnedSegment.of(sampled.trajectories(), experience),
                stages.advantage().estimator().batchNormalization()));
        if (config.algorithm().rolloutCorrection().isActive() && stages.correction() != null) {
            metrics.putAll(stages.correction()
                    .metrics(sampled.trajectories(), experience)
                    .values());
        }
    }

    /** Notes the divergence that was in the reward; returns its next weight, or null where it is not in the reward. */
    private Double nextKlCoef(KlController kl, RolloutRounds.Collected sampled, Dataset<Row> experience) {
        KlPenalty kind = stages.advantage().klPenalty();
        if (kind == null) {
            return null;
        }
        double divergence = RewardDivergence.mean(kind, sampled.trajectories(), experience);
        metrics.put("actor/reward_kl_penalty", divergence);
        metrics.put("actor/reward_kl_penalty_coeff", kl.coefficient());
        return kl.after(divergence, trajectories(sampled)).coefficient();
    }

    private void commit(RolloutRounds.Collected sampled, Updated updated, Double nextKlCoef) {
        IterationState state = IterationState.of(
                        updated.checkpoint,
                        sampled.next(),
                        updated.actor.optimizerSteps(),
                        config.trainer().seed(),
                        nextKlCoef)
                .withCarriedGroups(sampled.carried());
        List<ManifestRef> reads = Stream.concat(
                        sampled.reads().stream(),
                        run.manifests(number, Table.EXPERIENCE).stream().map(Manifest::ref))
                .toList();
        commit(spark, run, number, metrics, ManifestExtras.NONE.withReads(reads).withState(state));
    }

    /** Writes the metrics, the last table of an iteration, whose manifest is the commit of the whole. */
    private static void commit(
            SparkSession spark, RunDirectory run, int number, Map<String, Double> metrics, ManifestExtras extras) {
        run.commitTable(number, Table.METRICS, () -> MetricRows.of(spark, run.runId(), number, metrics), extras);
    }

    /** Iteration 0 holds nothing but the validation of the model that the run starts from. Returns its metrics. */
    static Map<String, Double> zero(
            SparkSession spark, Progress progress, RunDirectory run, Stages stages, Models models, long seed) {
        Map<String, Double> metrics = new LinkedHashMap<>();
        metrics.put("training/global_step", 0.0);
        validate(stages, 0, models, new StageTimer(spark, progress, 0, metrics), metrics);
        commit(spark, run, 0, metrics, ManifestExtras.NONE.withState(IterationState.initial(seed, null)));
        return metrics;
    }

    private static void validate(
            Stages stages, int number, Models models, StageTimer timer, Map<String, Double> metrics) {
        Validation validation = stages.validation();
        metrics.putAll(timer.time(
                "testing", validation.prompts().size(), "prompts", () -> validation.run(number, models.policy())));
    }

    private long trajectories(RolloutRounds.Collected sampled) {
        return (long) sampled.groups().size() * config.rollout().n();
    }
}
