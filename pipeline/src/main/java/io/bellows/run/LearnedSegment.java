package io.bellows.run;

import static org.apache.spark.sql.functions.coalesce;
import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.struct;

import io.bellows.udfs.sql.MomentsStruct;
import io.bellows.udfs.statistics.JointMoments;
import io.bellows.udfs.statistics.Moments;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * What the update learned from a segment of a trajectory, in a few numbers: those of a batch fit on the driver, its tokens need not.
 *
 * @param trajectory id of the trajectory
 * @param index of the segment
 * @param reward of the trajectory
 * @param sampled whether the policy sampled a token
 * @param kept whether rollout correction left a token
 * @param onTokens sum of the token-level rewards
 * @param advantages of tokens that were kept
 * @param returns of tokens that were kept
 * @param values of sampled tokens, none without a critic
 * @param probabilities that the policy and the engine gave sampled tokens
 * @param differences between the two, without sign
 */
record LearnedSegment(
        String trajectory,
        int index,
        double reward,
        boolean sampled,
        boolean kept,
        double onTokens,
        Moments advantages,
        Moments returns,
        Moments values,
        JointMoments probabilities,
        Moments differences) {

    private static final Seq<String> KEY = CollectionConverters.asScala(List.of("trajectory_id", "segment_index"))
            .toSeq();
    private static final StructType NUMBERS = new StructType()
            .add("sampled", DataTypes.BooleanType)
            .add("kept", DataTypes.BooleanType)
            .add("on_tokens", DataTypes.DoubleType)
            .add("advantages", MomentsStruct.TYPE)
            .add("returns", MomentsStruct.TYPE)
            .add("values", MomentsStruct.TYPE)
            .add("policy", MomentsStruct.TYPE)
            .add("engine", MomentsStruct.TYPE)
            .add("products", DataTypes.DoubleType)
            .add("differences", MomentsStruct.TYPE);

    /**
     * Reads the segments of trajectories with a reward, in the order of their keys, so that sums do not depend on partitions.
     *
     * @param trajectories all that the update reads, with groups that an earlier iteration left over
     * @param experience what it learned from them
     */
    static List<LearnedSegment> of(Dataset<Row> trajectories, Dataset<Row> experience) {
        Column tokens = struct(
                col("response_mask"),
                coalesce(col("corrected_mask"), col("response_mask")),
                col("token_level_rewards"),
                col("advantages"),
                col("returns"),
                col("values"),
                col("old_log_probs"),
                col("rollout_log_probs"));
        Column numbers = functions
                .udf((UDF1<Row, Row>) LearnedSegment::numbers, NUMBERS)
                .withName("learned_segment")
                .apply(tokens);
        List<LearnedSegment> segments = new ArrayList<>();
        experience
                .where(col("reward").isNotNull())
                .join(
                        trajectories.select("trajectory_id", "segment_index", "response_mask", "rollout_log_probs"),
                        KEY,
                        "inner")
                .select(col("trajectory_id"), col("segment_index"), col("reward"), numbers)
                .collectAsList()
                .forEach(row -> segments.add(read(row)));
        segments.sort(Comparator.comparing(LearnedSegment::trajectory).thenComparingInt(LearnedSegment::index));
        return segments;
    }

    private static Row numbers(Row row) {
        boolean[] sampled = mask(row, 0);
        boolean[] kept = mask(row, 1);
        double onTokens = 0;
        for (double reward : doubles(row, 2)) {
            onTokens += reward;
        }
        double[] policy = exp(doubles(row, 6));
        double[] engine = exp(doubles(row, 7));
        double[] differences = new double[policy.length];
        for (int t = 0; t < differences.length; t++) {
            differences[t] = Math.abs(policy[t] - engine[t]);
        }
        JointMoments probabilities = JointMoments.of(policy, engine, sampled);
        return RowFactory.create(
                any(sampled),
                any(kept),
                onTokens,
                MomentsStruct.write(Moments.of(doubles(row, 3), both(sampled, kept))),
                MomentsStruct.write(Moments.of(doubles(row, 4), both(sampled, kept))),
                MomentsStruct.write(row.isNullAt(5) ? Moments.NONE : Moments.of(doubles(row, 5), sampled)),
                MomentsStruct.write(probabilities.left()),
                MomentsStruct.write(probabilities.right()),
                probabilities.products(),
                MomentsStruct.write(Moments.of(differences, sampled)));
    }

    private static LearnedSegment read(Row row) {
        Row numbers = row.getStruct(3);
        return new LearnedSegment(
                row.getString(0),
                row.getInt(1),
                row.getDouble(2),
                numbers.getBoolean(0),
                numbers.getBoolean(1),
                numbers.getDouble(2),
                moments(numbers, 3),
                moments(numbers, 4),
                moments(numbers, 5),
                new JointMoments(moments(numbers, 6), moments(numbers, 7), numbers.getDouble(8)),
                moments(numbers, 9));
    }

    private static boolean[] mask(Row row, int field) {
        List<Integer> ones = row.getList(field);
        boolean[] mask = new boolean[ones.size()];
        for (int t = 0; t < mask.length; t++) {
            mask[t] = ones.get(t) == 1;
        }
        return mask;
    }

    private static double[] doubles(Row row, int field) {
        return row.<Float>getList(field).stream()
                .mapToDouble(Float::doubleValue)
                .toArray();
    }

    private static double[] exp(double[] values) {
        for (int t = 0; t < values.length; t++) {
            values[t] = Math.exp(values[t]);
        }
        return values;
    }

    private static boolean any(boolean[] mask) {
        return IntStream.range(0, mask.length).anyMatch(t -> mask[t]);
    }

    private static boolean[] both(boolean[] left, boolean[] right) {
        boolean[] both = new boolean[left.length];
        for (int t = 0; t < both.length; t++) {
            both[t] = left[t] && right[t];
        }
        return both;
    }

    private static Moments moments(Row numbers, int field) {
        return MomentsStruct.read(numbers.getStruct(field));
    }
}
