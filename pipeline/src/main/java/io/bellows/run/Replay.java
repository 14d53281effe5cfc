package io.bellows.run;

import io.bellows.cluster.Cluster;
import io.bellows.config.BellowsConfig;
import io.bellows.config.InvalidConfigException;
import io.bellows.data.PromptDataset;
import io.bellows.resident.ExecutorHost;
import io.bellows.stage.RolloutSampling;
import io.bellows.trajectory.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.sql.SparkSession;

/**
 * A committed iteration computed again from its stored trajectories: scores, log-probs, advantages and the update, without a rollout,
 * possibly under other rewards, another estimator or another loss. It starts from the weights that the iteration started from.
 *
 * <p>What comes out is a run directory of its own with this one iteration; {@code bellows sql} and {@code bellows verify} read it. Its
 * ids are those of the run, so that rows of both can be joined. Nothing is written into the run.
 */
public final class Replay {

    private final SparkSession spark;
    private final String run;
    private final int iteration;
    private final List<String> changes;
    private final String target;
    private final Progress progress;

    /**
     * Creates a replay.
     *
     * @param spark the session
     * @param run the run directory
     * @param iteration counted from 1
     * @param changes {@code key=value}, which win over the run's configuration
     * @param target an empty or new directory
     * @param progress told how it goes
     */
    public Replay(
            SparkSession spark, String run, int iteration, List<String> changes, String target, Progress progress) {
        this.spark = spark;
        this.run = run;
        this.iteration = iteration;
        this.changes = List.copyOf(changes);
        this.target = target;
        this.progress = progress;
    }

    /**
     * Replays.
     *
     * @return how the outcome differs from what the run committed
     * @throws InvalidRunException when the iteration is not committed, its first weights are gone, or the target cannot be used
     * @throws InvalidConfigException when a change is invalid, or would need other trajectories
     */
    public ReplayReport run() {
        Cluster.requireUsable(spark);
        try (RunDirectory source = RunDirectory.open(spark, run)) {
            BellowsConfig config = changed(source.config());
            IterationState after = state(source, iteration)
                    .orElseThrow(() -> new InvalidRunException("Cannot replay iteration " + iteration + " of "
                            + source.uri() + ": it is not committed; the newest one that is, is "
                            + source.latestCommittedIteration().orElse(0)));
            IterationState before = state(source, iteration - 1)
                    .orElse(IterationState.initial(config.trainer().seed(), null));
            Models models = models(source, config);
            try (RunDirectory replay = RunDirectory.startReplay(spark, source, config)) {
                run(source, replay, config, before, after, models);
                return new ReplayComparison(source, replay, iteration).report();
            }
        }
    }

    private void run(
            RunDirectory source,
            RunDirectory replay,
            BellowsConfig config,
            IterationState before,
            IterationState after,
            Models models) {
        Stages stages = Stages.of(spark, config, progress, replay.runId(), null, iterations(config));
        if (!before.carriedGroups().isEmpty()) {
            scoreAgain(source, replay, iteration - 1, stages);
        }
        replay.copyTable(source, iteration, Table.TRAJECTORIES);
        RolloutRounds rollouts = new RolloutRounds(config, stored(source, after), stages, progress);
        try {
            new Iteration(spark, config, progress, replay, stages, iteration, before, models)
                    .run(rollouts, false, TrainLoop.Stage.UPDATE);
        } finally {
            ExecutorHost.release(replay.runId());
        }
    }

    /** Groups that the iteration took over from the one before it. */
    private static void scoreAgain(RunDirectory source, RunDirectory replay, int iteration, Stages stages) {
        replay.copyTable(source, iteration, Table.TRAJECTORIES);
        for (Manifest part : replay.manifests(iteration, Table.TRAJECTORIES)) {
            replay.commitTable(
                    iteration,
                    part.round(),
                    Table.SCORES,
                    () -> stages.score().run(replay.rows(part)),
                    ManifestExtras.NONE.withReads(List.of(part.ref())));
        }
    }

    /** The prompts of the stored rounds; nobody reads them, because their trajectories are there. */
    private RoundPrompts stored(RunDirectory source, IterationState after) {
        List<Integer> sizes = new ArrayList<>();
        for (Manifest part : source.manifests(iteration, Table.TRAJECTORIES)) {
            sizes.add(Math.toIntExact(
                    source.rows(part).select("group_id").distinct().count()));
        }
        return (round, from, size) -> {
            if (round >= sizes.size()) {
                throw new InvalidRunException("Cannot replay iteration " + iteration + " of " + source.uri()
                        + ": with these rewards too few groups of its " + sizes.size()
                        + " rollout rounds have samples that differ, and another round would have to be sampled; set"
                        + " algorithm.filter_groups.metric, or rewards that tell more of them apart");
            }
            return new RoundPrompts.Prompts(
                    sizes.get(round),
                    position -> {
                        throw new IllegalStateException("Cannot sample in a replay");
                    },
                    after.cursor());
        };
    }

    private static Optional<IterationState> state(RunDirectory source, int number) {
        return source.manifest(number, Table.METRICS).map(Manifest::state);
    }

    private Models models(RunDirectory source, BellowsConfig config) {
        if (iteration == 1) {
            return Models.of(config, Optional.empty());
        }
        Checkpoint start = source.verifiedCheckpoint(iteration - 1)
                .orElseThrow(() -> new InvalidRunException("Cannot replay iteration " + iteration + " of "
                        + source.uri() + ": the checkpoint of iteration " + (iteration - 1)
                        + ", from which it started, is deleted; with trainer.save_freq=1 every checkpoint is kept"));
        if (config.usesCritic() && !source.config().usesCritic()) {
            throw invalid(
                    "critic.enable",
                    "the run has no critic, so that there is none to go on with; replay"
                            + " iteration 1, or leave the key");
        }
        return Models.of(config, Optional.of(start));
    }

    /** The iterations of the whole run, on which the learning rate's schedule depends. */
    private int iterations(BellowsConfig config) {
        Integer steps = config.trainer().totalTrainingSteps();
        if (steps != null) {
            return steps;
        }
        try (PromptDataset training = TrainLoop.trainingData(spark, config)) {
            return TrainLoop.iterations(config, TrainLoop.order(config, training));
        }
    }

    private BellowsConfig changed(BellowsConfig stored) {
        BellowsConfig changed = changes.isEmpty() ? stored : stored.with(changes);
        Set<String> refused = new TreeSet<>(stored.keysThatDiffer(changed));
        if (RolloutSampling.training(stored).equals(RolloutSampling.training(changed))) {
            refused.removeIf(key -> !needsRollout(key));
        } else {
            refused.removeIf(key -> !needsRollout(key) && !key.equals("algorithm.adv_estimator"));
        }
        if (!refused.isEmpty()) {
            throw new InvalidConfigException(refused.stream()
                    .map(key -> "Unsupported change of " + key
                            + ": it needs other trajectories than the stored ones; train a run of its own with it")
                    .toList());
        }
        return toTarget(changed);
    }

    private BellowsConfig toTarget(BellowsConfig config) {
        var resolved = config.resolved();
        resolved.withObject("trainer").put("default_local_dir", target);
        return BellowsConfig.fromResolved(resolved);
    }

    /** Whether a key decides on what is sampled. */
    static boolean needsRollout(String key) {
        return switch (key.substring(0, key.indexOf('.'))) {
            case "data" -> true;
            case "model" -> !key.equals("model.enable_gradient_checkpointing");
            case "rollout" -> !key.startsWith("rollout.log_prob_");
            case "trainer" -> key.equals("trainer.seed");
            case "algorithm" ->
                Set.of(
                                "algorithm.filter_groups.enable",
                                "algorithm.filter_groups.max_num_gen_batches",
                                "algorithm.filter_groups.carry_over")
                        .contains(key);
            default -> false;
        };
    }

    private static InvalidConfigException invalid(String key, String reason) {
        return new InvalidConfigException(List.of("Unsupported change of " + key + ": " + reason));
    }
}
