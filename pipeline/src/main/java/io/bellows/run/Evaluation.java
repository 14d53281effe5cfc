package io.bellows.run;

import static org.apache.spark.sql.functions.broadcast;
import static org.apache.spark.sql.functions.col;

import io.bellows.client.Servers;
import io.bellows.cluster.Cluster;
import io.bellows.config.BellowsConfig;
import io.bellows.config.Purpose;
import io.bellows.data.PromptDataset;
import io.bellows.env.EnvironmentSettings;
import io.bellows.resident.ExecutorHost;
import io.bellows.resident.ResidentSettings;
import io.bellows.resident.WeightsRef;
import io.bellows.reward.RewardRegistry;
import io.bellows.reward.WeightedRewards;
import io.bellows.run.EvaluatedTrajectories.Pending;
import io.bellows.stage.RewardModelStage;
import io.bellows.stage.RolloutSampling;
import io.bellows.stage.RolloutStage;
import io.bellows.stage.ScoreStage;
import io.bellows.trajectory.Table;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Evaluation of a model on the prompts of {@code data.val_files}: the model of {@code model.path}, or one behind servers, whose tokenizer
 * {@code model.path} has. Each prompt is answered {@code rollout.val_kwargs.n} times.
 *
 * <p>The rows go into iteration 0 of a run directory of their own, a round of trajectories at a time, each committed; then the scores. An
 * evaluation that is started again does what is missing, and once more what failed: such a trajectory gets a further row with the next
 * {@code attempt}, and its reward when it has one.
 */
public final class Evaluation {

    private static final int ITERATION = 0;

    /** So many times what runs at once makes a round: what is lost at most when the evaluation is killed. */
    private static final int ROUND = 4;

    private static final ArrayType NUMBERS = DataTypes.createArrayType(DataTypes.IntegerType, false);
    private static final StructType WANTED = new StructType()
            .add("row_index", DataTypes.LongType, false)
            .add("position", DataTypes.IntegerType, false)
            .add(RolloutStage.SAMPLES, NUMBERS, false)
            .add(RolloutStage.ATTEMPTS, NUMBERS, false);

    private final SparkSession spark;
    private final BellowsConfig config;
    private final Servers servers;
    private final Progress progress;
    private final Map<String, Double> timings = new LinkedHashMap<>();

    /**
     * Prepares an evaluation.
     *
     * @param spark the session
     * @param config a configuration checked for {@link Purpose#EVAL}, or {@link Purpose#EVAL_OF_SERVERS}
     * @param servers who answers, or null for the model of {@code model.path}
     * @param progress told how it goes
     */
    public Evaluation(SparkSession spark, BellowsConfig config, Servers servers, Progress progress) {
        this.spark = spark;
        this.config = config;
        this.servers = servers;
        this.progress = progress;
    }

    /**
     * Runs what is missing.
     *
     * @return what all rows show
     * @throws InvalidRunException if the directory holds something else, or a whole round failed
     */
    public EvaluationReport run() {
        Cluster.requireUsable(spark);
        // Servers have the model, and only they know what it takes.
        String memory = servers == null ? MemoryCheck.of(spark, config, Purpose.EVAL, progress) : null;
        try (RunDirectory run = RunDirectory.start(spark, config);
                PromptDataset prompts = TrainLoop.load(
                        spark, config, config.data().valFiles(), config.data().valMaxSamples())) {
            requireSameModel(run);
            progress.message("data: " + prompts.report().summary());
            Map<String, String> facts = facts(run, prompts);
            if (memory != null) {
                facts.put("memory", memory);
            }
            progress.header(facts);
            WeightedRewards rewards = RewardRegistry.standard().create(config.rewardFunctions());
            try {
                rollOut(run, prompts);
                score(run, rewards);
            } finally {
                ExecutorHost.release(run.runId());
            }
            return report(run, rewards.names().get(0));
        }
    }

    // ---- whose evaluation it is

    private void requireSameModel(RunDirectory run) {
        RunFiles files = new RunFiles(run.uri(), spark.sparkContext().hadoopConfiguration());
        org.apache.hadoop.fs.Path file = files.path("evaluation.json");
        String now = Json.pretty(Map.of(
                "model", servers == null ? config.model().path() : servers.model(),
                "asked",
                        servers == null
                                ? "in process"
                                : servers.protocol().name().toLowerCase(Locale.ROOT)));
        Optional<String> then = files.text(file);
        if (then.isEmpty() && run.latestCommittedIteration().isPresent()) {
            throw new InvalidRunException("Cannot evaluate into " + run.uri()
                    + ": there is a training run; choose another directory with -o");
        }
        if (then.isEmpty()) {
            files.publish(file, now);
        } else if (!then.get().equals(now)) {
            throw new InvalidRunException("Cannot continue the evaluation in " + run.uri() + ": it is one of "
                    + oneLine(then.get()) + ", this is one of " + oneLine(now)
                    + "; choose another directory with -o, or name that model");
        }
    }

    private static String oneLine(String json) {
        return json.replaceAll("\\s+", " ").strip();
    }

    private Map<String, String> facts(RunDirectory run, PromptDataset prompts) {
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put(
                "model",
                servers == null
                        ? config.model().path()
                        : servers.model() + " at "
                                + String.join(
                                        ", ",
                                        servers.addresses().stream()
                                                .map(Object::toString)
                                                .toList()));
        facts.put(
                "data",
                prompts.size() + " prompts of "
                        + String.join(", ", config.data().valFiles()) + ", "
                        + config.rollout().valKwargs().n() + " trajectories each");
        facts.put("run", run.uri());
        return facts;
    }

    // ---- trajectories

    private void rollOut(RunDirectory run, PromptDataset prompts) {
        int samples = config.rollout().valKwargs().n();
        List<Pending> pending = EvaluatedTrajectories.of(run).pending(run.runId(), prompts.size(), samples);
        long all = prompts.size() * samples;
        long wanted = pending.stream().mapToLong(one -> one.samples().size()).sum();
        if (wanted < all) {
            progress.message((all - wanted) + " of " + all + " trajectories are done; " + wanted + " to go");
        }
        int round = run.manifests(ITERATION, Table.TRAJECTORIES).size();
        int size = ROUND * config.rollout().maxNumSeqs();
        for (List<Pending> batch : Pending.batches(pending, size)) {
            commitRound(run, prompts, round++, batch);
        }
    }

    private void commitRound(RunDirectory run, PromptDataset prompts, int round, List<Pending> batch) {
        long trajectories =
                batch.stream().mapToLong(one -> one.samples().size()).sum();
        WeightsRef weights = WeightsRef.initial(config.model().path());
        RolloutStage stage = stage(run, trajectories);
        Dataset<Row> rows = timer().time(
                        "gen",
                        trajectories,
                        "trajectories",
                        () -> run.commitTable(
                                ITERATION,
                                round,
                                Table.TRAJECTORIES,
                                () -> stage.run(wanted(prompts, batch), ITERATION, weights),
                                ManifestExtras.NONE.withLeastRows(trajectories).withWeightsVersion(weights.version())));
        requireSuccess(rows);
    }

    private RolloutStage stage(RunDirectory run, long trajectories) {
        ResidentSettings resident = ResidentSettings.of(config);
        int tasks = servers == null
                ? Cluster.of(spark, config.trainer(), progress::message).rolloutTasks(trajectories, resident.slots())
                : 1; // so that no more are asked at once than was said
        RolloutSampling sampling = RolloutSampling.validation(config);
        return new RolloutStage(run.runId(), resident, sampling, EnvironmentSettings.of(config), tasks).with(servers);
    }

    private Dataset<Row> wanted(PromptDataset prompts, List<Pending> batch) {
        List<Row> wanted = batch.stream()
                .map(one -> RowFactory.create(
                        (long) one.position(),
                        one.position(),
                        List.copyOf(one.samples().keySet()),
                        List.copyOf(one.samples().values())))
                .toList();
        return prompts.rows().join(broadcast(spark.createDataFrame(wanted, WANTED)), "row_index");
    }

    /** A round in which nothing came out tells of the model or its servers, not of the prompts. */
    private static void requireSuccess(Dataset<Row> round) {
        Dataset<Row> failed = round.where(col("status").equalTo("failed"));
        if (round.where(col("status").notEqual("failed")).isEmpty()) {
            Row first = failed.orderBy("trajectory_id").select("error_message").head();
            throw new InvalidRunException("Cannot evaluate: all " + failed.count()
                    + " trajectories of a round failed; mend it and start again, which runs them once more. The first: "
                    + first.getString(0));
        }
    }

    // ---- scores

    /** Scores what has no score yet; samples of a prompt are compared with all others of it. */
    private void score(RunDirectory run, WeightedRewards rewards) {
        EvaluatedTrajectories done = EvaluatedTrajectories.of(run);
        Set<String> unscored = done.withoutScore();
        int round = run.manifests(ITERATION, Table.SCORES).size();
        if (unscored.isEmpty()) {
            return;
        }
        int tasks = Cluster.of(spark, config.trainer(), progress::message)
                .rolloutTasks(unscored.size(), config.rollout().maxNumSeqs());
        ScoreStage stage = new ScoreStage(rewards, RewardModelStage.of(config, run.runId(), tasks));
        Dataset<Row> ids =
                spark.createDataset(List.copyOf(unscored), Encoders.STRING()).toDF("trajectory_id");
        List<ManifestRef> reads = run.manifests(ITERATION, Table.TRAJECTORIES).stream()
                .map(Manifest::ref)
                .toList();
        timer().time(
                        "reward",
                        unscored.size(),
                        "trajectories",
                        () -> run.commitTable(
                                ITERATION,
                                round,
                                Table.SCORES,
                                () -> stage.run(done.latest(run))
                                        .where(col("status").notEqual("failed"))
                                        .join(broadcast(ids), "trajectory_id"),
                                ManifestExtras.NONE.withReads(reads)));
    }

    // ---- what came out

    private EvaluationReport report(RunDirectory run, String accuracyComponent) {
        EvaluatedTrajectories done = EvaluatedTrajectories.of(run);
        EvaluationReport report = EvaluationReport.of(
                run.uri(), done, accuracyComponent, config.rollout().valKwargs().n());
        if (report.failed() == 0 && !run.isCommitted(ITERATION, Table.METRICS)) {
            Map<String, Double> metrics = new LinkedHashMap<>(report.metrics());
            metrics.putAll(timings);
            metrics.put("training/global_step", 0.0);
            run.commitTable(
                    ITERATION,
                    Table.METRICS,
                    () -> MetricRows.of(spark, run.runId(), ITERATION, metrics),
                    ManifestExtras.NONE.withState(
                            IterationState.initial(config.trainer().seed(), null)));
        }
        return report;
    }

    private StageTimer timer() {
        return new StageTimer(spark, progress, ITERATION, timings);
    }
}
