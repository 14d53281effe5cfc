package io.bellows.stage;

import static org.apache.spark.sql.functions.broadcast;
import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.size;

import io.bellows.trajectory.TrajectoryKey;
import io.bellows.udfs.batching.KarmarkarKarp;
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
     * @param ranks number of ranks; each mini-batch is dealt out so that they have about the same work
     * @return the rows that {@link UpdateStage} reads
     */
    public Dataset<Row> rows(Dataset<Row> trajectories, Dataset<Row> experience, int iteration, int ranks) {
        Dataset<Row> learnable = experience.where(col("reward").isNotNull());
        Dataset<Row> tokens =
                trajectories.select("trajectory_id", "segment_index", "prompt_ids", "response_ids", "response_mask");
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
                .join(broadcast(plan(learnable, workloads(trajectories, ranks), iteration, ranks)), SEGMENT, "inner");
    }

    /** The work that each trajectory makes, all its segments together; of one rank nobody asks. */
    private static Map<String, Long> workloads(Dataset<Row> trajectories, int ranks) {
        Map<String, Long> workloads = new HashMap<>();
        if (ranks > 1) {
            for (Row row : trajectories
                    .select(col("trajectory_id"), size(col("prompt_ids")).plus(size(col("response_ids"))))
                    .collectAsList()) {
                workloads.merge(row.getString(0), KarmarkarKarp.workload(row.getInt(1)), Long::sum);
            }
        }
        return workloads;
    }

    /**
     * Deals work out.
     *
     * @param workloads the work of each item
     * @param ranks number of ranks
     * @return the rank of each item; with fewer items than ranks, some have none
     */
    public static int[] deal(long[] workloads, int ranks) {
        int[] dealt = new int[workloads.length];
        if (ranks > 1 && workloads.length > 0) {
            List<int[]> parts = KarmarkarKarp.partition(workloads, Math.min(ranks, workloads.length));
            for (int rank = 0; rank < parts.size(); rank++) {
                for (int item : parts.get(rank)) {
                    dealt[item] = rank;
                }
            }
        }
        return dealt;
    }

    /** The rank of each trajectory: its segments stay together, because sequence-level losses join them. */
    private static Map<String, Integer> deal(List<Row> rows, Map<String, Long> workloads, int ranks) {
        List<String> ids = rows.stream().map(row -> row.getString(3)).distinct().toList();
        int[] dealt = deal(
                ids.stream().mapToLong(id -> workloads.getOrDefault(id, 0L)).toArray(), ranks);
        Map<String, Integer> ranksById = new HashMap<>();
        for (int i = 0; i < dealt.length; i++) {
            ranksById.put(ids.get(i), dealt[i]);
        }
        return ranksById;
    }

    private Dataset<Row> plan(Dataset<Row> learnable, Map<String, Long> workloads, int iteration, int ranks) {
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
                List<Row> rows = Arrays.stream(members)
                        .mapToObj(ordered::get)
                        .flatMap(List::stream)
                        .toList();
                Map<String, Integer> dealt = deal(rows, workloads, ranks);
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
