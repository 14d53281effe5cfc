package io.bellows.run;

import static org.apache.spark.sql.functions.broadcast;
import static org.apache.spark.sql.functions.col;

import io.bellows.config.BellowsConfig;
import io.bellows.config.FilterGroupsConfig;
import io.bellows.data.Cursor;
import io.bellows.resident.WeightsRef;
import io.bellows.trajectory.Table;
import io.bellows.trajectory.TrajectoryKey;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;

/**
 * The rollout of an iteration and its scores. As a rule that is one round over the prompts of a batch. With dynamic sampling (DAPO,
 * Yu et al., arXiv 2503.14476; {@code algorithm.filter_groups}) groups whose samples are all equally good are left out, and
 * further rounds, each as large as the need, fill the batch with groups that teach something.
 *
 * <p>A round is committed before the next one is planned, and planned from what is committed: a run that stops goes on with the
 * same rounds. Nothing generated is deleted; what is left out is in the tables, and not in the experience.
 */
final class RolloutRounds {

    private final BellowsConfig config;
    private final RoundPrompts prompts;
    private final Stages stages;
    private final Progress progress;

    RolloutRounds(BellowsConfig config, RoundPrompts prompts, Stages stages, Progress progress) {
        this.config = config;
        this.prompts = prompts;
        this.stages = stages;
        this.progress = progress;
    }

    /**
     * What an iteration has sampled, and what of it the update learns from.
     *
     * @param trajectories rows of {@link Table#TRAJECTORIES} to learn from
     * @param scores their rows of {@link Table#SCORES}, and those of greedy baselines
     * @param groups ids of the groups to learn from
     * @param carried ids of groups of this iteration that the next one learns from
     * @param reads the commits that the rows come from
     * @param next where the next iteration reads the data on
     * @param metrics of dynamic sampling, under verl's names
     */
    record Collected(
            Dataset<Row> trajectories,
            Dataset<Row> scores,
            List<String> groups,
            List<String> carried,
            List<ManifestRef> reads,
            Cursor next,
            Map<String, Double> metrics) {}

    /** What the rounds so far have brought. */
    private record Sampled(List<String> groups, Cursor next, int rounds, int generated, int informative) {}

    /**
     * Samples and scores, or finds committed what was sampled and scored before.
     *
     * @param state what the iteration before left behind
     */
    Collected collect(RunDirectory run, int iteration, WeightsRef weights, IterationState state, StageTimer timer) {
        Sampled sampled = sample(run, iteration, weights, state, timer);
        int batchSize = config.data().trainBatchSize();
        List<String> learned = List.copyOf(sampled.groups.subList(0, Math.min(batchSize, sampled.groups.size())));
        List<String> surplus = sampled.groups.subList(learned.size(), sampled.groups.size());
        List<String> carried = carried(surplus);
        if (learned.size() < batchSize) {
            progress.message("iteration " + iteration + ": " + learned.size() + " of " + batchSize + " groups after "
                    + sampled.rounds + " rounds, as many as algorithm.filter_groups.max_num_gen_batches allows");
        }
        return new Collected(
                rows(run, iteration, Table.TRAJECTORIES, learned)
                        .where(col("sample_index").notEqual(TrajectoryKey.GREEDY_BASELINE)),
                rows(run, iteration, Table.SCORES, learned),
                learned,
                carried,
                reads(run, iteration, state),
                sampled.next,
                metrics(sampled, surplus.size() - carried.size(), carried.size()));
    }

    /** Round after round until there are enough groups to learn from, those carried over first. */
    private Sampled sample(
            RunDirectory run, int iteration, WeightsRef weights, IterationState state, StageTimer timer) {
        List<String> groups = new ArrayList<>(state.carriedGroups());
        Cursor cursor = state.cursor();
        int generated = 0;
        int informative = 0;
        int round = 0;
        for (int size = firstRound(groups.size()); size > 0; size = nextRound(groups.size(), generated, informative)) {
            RoundPrompts.Prompts batch = prompts.next(round, cursor, size);
            Dataset<Row> scores = commitRound(run, iteration, round++, batch, generated, weights, timer);
            ScoreChecks.refuseUnusable(scores, iteration, config.reward());
            List<String> found = groups(run.runId(), iteration, generated, batch.size(), scores);
            generated += batch.size();
            informative += found.size();
            groups.addAll(found);
            cursor = batch.next();
        }
        if (groups.isEmpty()) {
            throw nothingToLearn(iteration, generated);
        }
        return new Sampled(groups, cursor, round, generated, informative);
    }

    /** What of the surplus the next iteration learns from; it samples at least one group itself. */
    private List<String> carried(List<String> surplus) {
        if (stages.groupFilter() == null || !config.algorithm().filterGroups().carryOver()) {
            return List.of();
        }
        return List.copyOf(
                surplus.subList(0, Math.min(surplus.size(), config.data().trainBatchSize() - 1)));
    }

    /** Samples the first round alone, or finds it committed; further rounds are planned from its scores. */
    void sampleFirst(RunDirectory run, int iteration, WeightsRef weights, IterationState state, StageTimer timer) {
        int size = firstRound(state.carriedGroups().size());
        if (size > 0) {
            sampleRound(run, iteration, 0, prompts.next(0, state.cursor(), size), 0, weights, timer);
        }
    }

    private int firstRound(int carried) {
        Integer genBatchSize = config.data().genBatchSize();
        return stages.groupFilter() == null || genBatchSize == null
                ? config.data().trainBatchSize() - carried
                : genBatchSize;
    }

    /** As many prompts as the need takes at the rate seen so far; 0 when the batch is full or the bound is met. */
    private int nextRound(int wanted, int generated, int informative) {
        int need = config.data().trainBatchSize() - wanted;
        if (stages.groupFilter() == null || need <= 0) {
            return 0;
        }
        FilterGroupsConfig settings = config.algorithm().filterGroups();
        int perRound = config.data().genBatchSize() == null
                ? config.data().trainBatchSize()
                : config.data().genBatchSize();
        long left = (long) settings.maxNumGenBatches() * perRound - generated;
        long expected = informative == 0 ? perRound : ((long) need * generated + informative - 1) / informative;
        return (int) Math.max(0, Math.min(Math.min(expected, perRound), left));
    }

    private Dataset<Row> commitRound(
            RunDirectory run,
            int iteration,
            int round,
            RoundPrompts.Prompts batch,
            int firstPosition,
            WeightsRef weights,
            StageTimer timer) {
        long rows = rows(batch);
        Dataset<Row> trajectories = sampleRound(run, iteration, round, batch, firstPosition, weights, timer);
        List<ManifestRef> sampled =
                List.of(run.manifests(iteration, Table.TRAJECTORIES).get(round).ref());
        return timer.time(
                "reward",
                rows,
                "trajectories",
                () -> run.commitTable(
                        iteration,
                        round,
                        Table.SCORES,
                        () -> stages.score().run(trajectories),
                        ManifestExtras.NONE.withReads(sampled).withExpectedRows(rows)));
    }

    private Dataset<Row> sampleRound(
            RunDirectory run,
            int iteration,
            int round,
            RoundPrompts.Prompts batch,
            int firstPosition,
            WeightsRef weights,
            StageTimer timer) {
        long rows = rows(batch);
        return timer.time(
                "gen",
                rows,
                "trajectories",
                () -> run.commitTable(
                        iteration,
                        round,
                        Table.TRAJECTORIES,
                        () -> stages.rollout().run(batch.rows().apply(firstPosition), iteration, weights),
                        ManifestExtras.NONE.withLeastRows(rows).withWeightsVersion(weights.version())));
    }

    private long rows(RoundPrompts.Prompts batch) {
        return (long) batch.size() * stages.rollout().sampling().trajectoriesPerPrompt();
    }

    /** The groups of a round to learn from. */
    private List<String> groups(String runId, int iteration, int firstPosition, int size, Dataset<Row> scores) {
        if (stages.groupFilter() != null) {
            return stages.groupFilter().informative(scores);
        }
        List<String> all = new ArrayList<>();
        for (int position = firstPosition; position < firstPosition + size; position++) {
            all.add(TrajectoryKey.groupId(runId, iteration, position));
        }
        return all;
    }

    /** The rows of some groups, sampled in this iteration or carried over from the one before. */
    private Dataset<Row> rows(RunDirectory run, int iteration, Table table, List<String> groups) {
        Dataset<Row> rows = run.committed(iteration, table);
        if (stages.groupFilter() == null) {
            return rows;
        }
        Set<Integer> iterations = new HashSet<>();
        groups.forEach(group -> iterations.add(TrajectoryKey.iteration(group)));
        if (iterations.contains(iteration - 1)) {
            rows = run.committed(iteration - 1, table).unionByName(rows);
        }
        Dataset<Row> wanted =
                rows.sparkSession().createDataset(groups, Encoders.STRING()).toDF("group_id");
        return rows.join(broadcast(wanted), rows.col("group_id").equalTo(wanted.col("group_id")), "left_semi");
    }

    private static List<ManifestRef> reads(RunDirectory run, int iteration, IterationState state) {
        Stream<Integer> iterations =
                state.carriedGroups().isEmpty() ? Stream.of(iteration) : Stream.of(iteration - 1, iteration);
        return iterations
                .flatMap(number -> Stream.of(Table.TRAJECTORIES, Table.SCORES)
                        .flatMap(table -> run.manifests(number, table).stream()))
                .map(Manifest::ref)
                .toList();
    }

    private Map<String, Double> metrics(Sampled sampled, int surplus, int carried) {
        if (stages.groupFilter() == null) {
            return Map.of();
        }
        double evicted = (double) (sampled.generated - sampled.informative)
                * config.rollout().n();
        return Map.of(
                "training/num_gen_batches", (double) sampled.rounds,
                "training/filter_groups/evicted_samples", evicted,
                "training/filter_groups/surplus_groups", (double) surplus,
                "training/filter_groups/carried_groups", (double) carried);
    }

    private InvalidRunException nothingToLearn(int iteration, int generated) {
        return new InvalidRunException("Cannot update in iteration " + iteration + ": in each of its " + generated
                + " groups all samples have the same "
                + config.algorithm().filterGroups().metric()
                + " (algorithm.filter_groups.metric), so there is nothing to learn from; raise rollout.n or"
                + " algorithm.filter_groups.max_num_gen_batches, or take easier or harder prompts");
    }
}
