package io.bellows.stage;

import io.bellows.udfs.advantage.AdvantageEstimator;
import io.bellows.udfs.advantage.AdvantageEstimator.Input;
import io.bellows.udfs.advantage.Advantages;
import io.bellows.udfs.advantage.Sample;
import io.bellows.udfs.statistics.Moments;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.collection.Seq;

/**
 * An advantage estimator as a function on the rows of one group.
 *
 * @param estimator the estimator
 */
record GroupEstimates(AdvantageEstimator estimator) implements UDF1<Seq<Row>, List<Row>> {

    private static final StructType MOMENTS = new StructType()
            .add("count", DataTypes.LongType)
            .add("mean", DataTypes.DoubleType)
            .add("squares", DataTypes.DoubleType)
            .add("min", DataTypes.DoubleType)
            .add("max", DataTypes.DoubleType);
    private static final StructType ESTIMATE = new StructType()
            .add("advantages", DataTypes.createArrayType(DataTypes.DoubleType, false))
            .add("returns", DataTypes.createArrayType(DataTypes.DoubleType, false))
            .add("moments", MOMENTS);

    /**
     * Estimates by member of a group, a segment of a trajectory: {@code advantages} before normalization, {@code returns}, and the {@link Moments} of the
     * advantages at sampled tokens, null for a member that is absent.
     *
     * @param members an array of structs with the fields of {@link #inputs}, sorted by sample and segment
     */
    Column of(Column members) {
        return functions
                .udf(this, DataTypes.createArrayType(ESTIMATE, false))
                .withName("group_estimates")
                .apply(members);
    }

    /** What the estimator reads of each member. */
    List<String> inputs() {
        Stream<String> some = estimator.inputs().stream().sorted().flatMap(input -> switch (input) {
            case VALUES -> Stream.of("values");
            case BASELINE -> Stream.of("baseline");
            case SQUARED_PROBABILITIES -> Stream.of("old_log_probs", "squared_probabilities", "rollout_is_weights");
            case REWARDS -> Stream.of("rewards");
        });
        return Stream.concat(Stream.of("sample_index", "score", "token_level_rewards", "response_mask"), some)
                .toList();
    }

    @Override
    public List<Row> call(Seq<Row> members) {
        List<List<Row>> trajectories = trajectories(members);
        List<Sample> group = trajectories.stream().map(this::sample).toList();
        List<Advantages> estimates = estimator.estimate(group);
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < group.size(); i++) {
            int start = 0;
            for (Row segment : trajectories.get(i)) {
                int end = start
                        + segment.getList(segment.fieldIndex("response_mask")).size();
                rows.add(estimate(group.get(i), estimates.get(i), start, end));
                start = end;
            }
        }
        return rows;
    }

    /** The segments of each trajectory, which stand one after the other. */
    private static List<List<Row>> trajectories(Seq<Row> members) {
        List<List<Row>> trajectories = new ArrayList<>();
        Integer sample = null;
        for (int i = 0; i < members.size(); i++) {
            Row member = members.apply(i);
            if (!member.getAs("sample_index").equals(sample)) {
                sample = member.getAs("sample_index");
                trajectories.add(new ArrayList<>());
            }
            trajectories.get(trajectories.size() - 1).add(member);
        }
        return trajectories;
    }

    private static Row estimate(Sample sample, Advantages estimate, int start, int end) {
        double[] advantages = Arrays.copyOfRange(estimate.advantages(), start, end);
        boolean[] mask = Arrays.copyOfRange(sample.mask(), start, end);
        return RowFactory.create(
                advantages,
                Arrays.copyOfRange(estimate.returns(), start, end),
                sample.isAbsent() ? null : row(Moments.of(advantages, mask)));
    }

    private Sample sample(List<Row> segments) {
        Row first = segments.get(0); // what is not said token by token is the same in all
        double[] ones = joined(segments, "response_mask");
        boolean[] mask = new boolean[ones.length];
        for (int t = 0; t < mask.length; t++) {
            mask[t] = ones[t] == 1;
        }
        Sample.Builder sample = Sample.of(orNaN(first.getAs("score")), joined(segments, "token_level_rewards"), mask);
        for (Input input : estimator.inputs()) {
            switch (input) {
                case VALUES -> sample.values(joined(segments, "values"));
                case BASELINE -> sample.baseline(orNaN(first.getAs("baseline")));
                case SQUARED_PROBABILITIES -> {
                    sample.logProbs(joined(segments, "old_log_probs"))
                            .squaredProbabilities(joined(segments, "squared_probabilities"));
                    if (first.getAs("rollout_is_weights") != null) {
                        sample.importanceWeights(joined(segments, "rollout_is_weights"));
                    }
                }
                case REWARDS -> sample.rewards(joined(List.of(first), "rewards"));
            }
        }
        return sample.build();
    }

    private static double orNaN(Double value) {
        return value == null ? Double.NaN : value;
    }

    private static double[] joined(List<Row> segments, String field) {
        return segments.stream()
                .flatMap(row -> row.<Number>getList(row.fieldIndex(field)).stream())
                .mapToDouble(value -> value == null ? Double.NaN : value.doubleValue())
                .toArray();
    }

    private static Row row(Moments moments) {
        return RowFactory.create(moments.count(), moments.mean(), moments.squares(), moments.min(), moments.max());
    }

    /** The moments that {@link #call} wrote. */
    static Moments moments(Row row) {
        return new Moments(row.getLong(0), row.getDouble(1), row.getDouble(2), row.getDouble(3), row.getDouble(4));
    }
}
