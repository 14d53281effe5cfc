package io.bellows.run;

import static org.apache.spark.sql.functions.broadcast;
import static org.apache.spark.sql.functions.col;

import io.bellows.trajectory.Table;
import io.bellows.trajectory.TrajectoryKey;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;

/** What an evaluation has committed: the last attempt at each trajectory, and its score where it has one. */
final class EvaluatedTrajectories {

    private static final int ITERATION = 0;

    private final Map<String, Last> byId = new TreeMap<>();

    private EvaluatedTrajectories() {}

    /**
     * The last attempt at a trajectory.
     *
     * @param failed whether it failed
     * @param metrics what environment and loop counted
     * @param reward null where there is none
     * @param rewards by reward function; null where one had nothing to say
     * @param scored whether a score is committed, if only to say that there is none
     */
    record Last(
            String group,
            String source,
            int attempt,
            boolean failed,
            boolean truncated,
            Map<String, Double> metrics,
            Double reward,
            Map<String, Double> rewards,
            boolean scored) {}

    /**
     * What of a prompt is to be done.
     *
     * @param position place of the prompt
     * @param samples names of samples, each with how often it was tried before
     */
    record Pending(int position, Map<Integer, Integer> samples) {

        /** Rounds of at most so many trajectories, unless a single prompt has more; the samples of a prompt stay together. */
        static List<List<Pending>> batches(List<Pending> pending, int most) {
            List<List<Pending>> batches = new ArrayList<>();
            int size = 0;
            for (Pending one : pending) {
                if (batches.isEmpty() || size + one.samples().size() > most) {
                    batches.add(new ArrayList<>());
                    size = 0;
                }
                batches.get(batches.size() - 1).add(one);
                size += one.samples().size();
            }
            return batches;
        }
    }

    /** Reads what is committed. */
    static EvaluatedTrajectories of(RunDirectory run) {
        EvaluatedTrajectories all = new EvaluatedTrajectories();
        for (Row row : run.committed(Table.TRAJECTORIES)
                .where(col("segment_index").equalTo(0))
                .select("trajectory_id", "group_id", "data_source", "attempt", "status", "metrics")
                .collectAsList()) {
            Last last = new Last(
                    row.getString(1),
                    row.getString(2),
                    row.getInt(3),
                    row.getString(4).equals("failed"),
                    row.getString(4).equals("truncated"),
                    new TreeMap<>(row.getJavaMap(5)),
                    null,
                    Map.of(),
                    false);
            all.byId.merge(row.getString(0), last, (one, other) -> one.attempt() > other.attempt() ? one : other);
        }
        all.readScores(run);
        return all;
    }

    private void readScores(RunDirectory run) {
        for (Row row : run.committed(Table.SCORES)
                .select("trajectory_id", "reward", "rewards")
                .collectAsList()) {
            Double reward = row.isNullAt(1) ? null : (Double) row.getDouble(1);
            byId.computeIfPresent(
                    row.getString(0),
                    (id, last) -> new Last(
                            last.group(),
                            last.source(),
                            last.attempt(),
                            last.failed(),
                            last.truncated(),
                            last.metrics(),
                            reward,
                            new TreeMap<>(row.getJavaMap(2)),
                            true));
        }
    }

    Collection<Last> all() {
        return byId.values();
    }

    /** What is missing, and what failed. */
    List<Pending> pending(String runId, long prompts, int samples) {
        List<Pending> pending = new ArrayList<>();
        for (int position = 0; position < prompts; position++) {
            Map<Integer, Integer> missing = new TreeMap<>();
            for (int sample = 0; sample < samples; sample++) {
                Last last = byId.get(TrajectoryKey.groupId(runId, ITERATION, position) + "/" + sample);
                if (last == null || last.failed()) {
                    missing.put(sample, last == null ? 0 : last.attempt() + 1);
                }
            }
            if (!missing.isEmpty()) {
                pending.add(new Pending(position, missing));
            }
        }
        return pending;
    }

    /** Ids of those that did not fail and have no score. */
    Set<String> withoutScore() {
        Set<String> ids = new TreeSet<>();
        byId.forEach((id, last) -> {
            if (!last.failed() && !last.scored()) {
                ids.add(id);
            }
        });
        return ids;
    }

    /** The rows of the last attempts that did not fail, of groups in which one has no score. */
    Dataset<Row> latest(RunDirectory run) {
        Set<String> groups = new TreeSet<>();
        withoutScore().forEach(id -> groups.add(byId.get(id).group()));
        Dataset<Row> rows = run.committed(ITERATION, Table.TRAJECTORIES);
        Dataset<Row> wanted = rows.sparkSession()
                .createDataset(List.copyOf(groups), Encoders.STRING())
                .toDF("group_id");
        return rows.where(col("status").notEqual("failed"))
                .join(broadcast(wanted), rows.col("group_id").equalTo(wanted.col("group_id")), "left_semi");
    }
}
