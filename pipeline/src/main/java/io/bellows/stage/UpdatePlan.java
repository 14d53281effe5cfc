package io.bellows.stage;

import static org.apache.spark.sql.functions.broadcast;
import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.size;
import static org.apache.spark.sql.functions.xxhash64;

import io.bellows.trajectory.TrajectoryKey;
import io.bellows.udfs.batching.MiniBatches;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Which rows each optimizer step of an update sees, and in which order. Made on the driver from keys alone, by a seeded
 * permutation of groups, so that it depends on no partition and no number of ranks.
 *
 * @param groupsInMiniBatch the section's {@code ppo_mini_batch_size}
 * @param epochs the section's {@code ppo_epochs}
 * @param seed the run's seed
 */
public record UpdatePlan(int groupsInMiniBatch, int epochs, long seed) {

    private static final StructType PLAN = new StructType()
            .add("trajectory_id", DataTypes.StringType, false)
            .add("segment_index", DataTypes.IntegerType, false)
            .add("mini_batch", DataTypes.IntegerType, false)
            .add("place", DataTypes.IntegerType, false)
            .add("rank", DataTypes.IntegerType, false);
    private static final Seq<String> SEGMENT = CollectionConverters.asScala(List.of("trajectory_id", "segment_index"))
            .toSeq();
    private static final long UPDATE = 0x555044; // apart from the seeds of samples

    /**
     * Returns the optimizer steps of an iteration.
     *
     * @param groups prompts of the iteration
     * @return the count
     */
    public long steps(int groups) {
        return (long) ((groups + groupsInMiniBatch - 1) / groupsInMiniBatch) * epochs;
    }

    /**
     * Joins experience, tokens and plan. Trajectories without a reward are left out.
     *
     * @param trajectories rows of {@link io.bellows.trajectory.Table#TRAJECTORIES}
     * @param experience rows of {@link io.bellows.trajectory.Table#EXPERIENCE}
     * @param iteration the iteration, part of the permutation's seed
     * @param ranks number of ranks; each mini-batch is dealt out so that they have about the same work, whole groups where
     *     that costs none of them more
     * @return the rows that {@link UpdateStage} reads
     */
    public Dataset<Row> rows(Dataset<Row> trajectories, Dataset<Row> experience, int iteration, int ranks) {
        Dataset<Row> learnable = experience.where(col("reward").isNotNull());
        Dataset<Row> tokens =
                trajectories.select("trajectory_id", "segment_index", "prompt_ids", "response_ids", "response_mask");
        RankBalance balance = new RankBalance(sequences(trajectories, ranks), ranks);
        return learnable
                .select(
                        "trajectory_id",
                        "segment_index",
                        "old_log_probs",
                        "ref_log_probs",
                        "advantages",
                        "values",
                        "returns",
                        "rollout_is_weights",
                        "corrected_mask")
                .join(tokens, SEGMENT, "inner")
                .join(broadcast(plan(learnable, balance, iteration)), SEGMENT, "inner");
    }

    /** What the work of each trajectory depends on; of one rank nobody asks. */
    private static Map<String, List<RankBalance.Sequence>> sequences(Dataset<Row> trajectories, int ranks) {
        Map<String, List<RankBalance.Sequence>> sequences = new HashMap<>();
        if (ranks > 1) {
            for (Row row : trajectories
                    .select(
                            col("trajectory_id"),
                            xxhash64(col("prompt_ids")),
                            size(col("prompt_ids")),
                            size(col("prompt_ids")).plus(size(col("response_ids"))))
                    .collectAsList()) {
                sequences
                        .computeIfAbsent(row.getString(0), id -> new ArrayList<>())
                        .add(new RankBalance.Sequence(row.getLong(1), row.getInt(2), row.getInt(3)));
            }
        }
        return sequences;
    }

    private static List<String> trajectories(List<Row> group) {
        return group.stream().map(row -> row.getString(3)).distinct().toList();
    }

    private Dataset<Row> plan(Dataset<Row> learnable, RankBalance balance, int iteration) {
        TreeMap<String, List<Row>> groups = new TreeMap<>(TrajectoryKey.GROUP_ORDER);
        for (Row row : learnable
                .select("group_id", "sample_index", "segment_index", "trajectory_id")
                .collectAsList()) {
            groups.computeIfAbsent(row.getString(0), group -> new ArrayList<>()).add(row);
        }
        groups.values()
                .forEach(rows -> rows.sort(
                        Comparator.comparingInt((Row row) -> row.getInt(1)).thenComparingInt(row -> row.getInt(2))));
        List<List<Row>> ordered = List.copyOf(groups.values());
        int groupCount = ordered.size();
        List<Row> plan = new ArrayList<>();
        int step = 0;
        for (int epoch = 0; epoch < epochs; epoch++) {
            for (int[] members :
                    MiniBatches.plan(groupCount, groupsInMiniBatch, SampleSeed.of(seed, iteration, UPDATE, epoch, 0))) {
                List<List<Row>> together =
                        Arrays.stream(members).mapToObj(ordered::get).toList();
                List<Row> rows = together.stream().flatMap(List::stream).toList();
                Map<String, Integer> dealt = balance.deal(
                        together.stream().map(UpdatePlan::trajectories).toList());
                for (int place = 0; place < rows.size(); place++) {
                    Row row = rows.get(place);
                    plan.add(RowFactory.create(
                            row.getString(3), row.getInt(2), step, place, dealt.get(row.getString(3))));
                }
                step++;
            }
        }
        return learnable.sparkSession().createDataFrame(plan, PLAN);
    }
}
