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
 * An advantage estimator as a function on the rows of one group. The segments of a trajectory, which follow each other, are one sample: their
 * tokens are laid end to end, and what is estimated is cut into segments again.
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
     * Estimates by member of a group: {@code advantages} before normalization, {@code returns}, and the {@link Moments} of the
     * advantages at sampled tokens, null for a member that is absent.
     *
     * @param members an array of structs with {@code sample_index}, {@code reward} and the fields of {@link #inputs}, by sample and segment
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
            case SQUARED_PROBABILITIES -> Stream.of("old_log_probs", "squared_probabilities");
            case REWARDS -> Stream.of("rewards");
        });
        return Stream.concat(Stream.of("score", "token_level_rewards", "response_mask"), some)
                .toList();
    }

    @Override
    public List<Row> call(Seq<Row> members) {
        List<List<Row>> trajectories = new ArrayList<>();
        for (int i = 0; i < members.size(); i++) {
            Row row = members.apply(i);
            if (i == 0 || !row.getAs("sample_index").equals(members.apply(i - 1).getAs("sample_index"))) {
                trajectories.add(new ArrayList<>());
            }
            trajectories.get(trajectories.size() - 1).add(row);
        }
        List<Sample> group = trajectories.stream().map(this::sample).toList();
        List<Advantages> estimates = estimator.estimate(group);
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < group.size(); i++) {
            int start = 0;
            for (Row segment : trajectories.get(i)) {
                int end = start + segment.getList(segment.fieldIndex("response_mask")).size();
                rows.add(row(estimates.get(i), group.get(i), start, end));
                start = end;
            }
        }
        return rows;
    }

    /** What was estimated for some tokens of a sample. */
    private static Row row(Advantages estimate, Sample sample, int start, int end) {
        double[] advantages = Arrays.copyOfRange(estimate.advantages(), start, end);
        return RowFactory.create(
                advantages,
                Arrays.copyOfRange(estimate.returns(), start, end),
                sample.isAbsent() ? null : row(Moments.of(advantages, Arrays.copyOfRange(sample.mask(), start, end))));
    }

    private Sample sample(List<Row> segments) {
        Row row = segments.get(0);
        double[] ones = doubles(segments, "response_mask");
        boolean[] mask = new boolean[ones.length];
        for (int t = 0; t < mask.length; t++) {
            mask[t] = ones[t] == 1;
        }
        Sample.Builder sample = Sample.of(score(segments), doubles(segments, "token_level_rewards"), mask);
        for (Input input : estimator.inputs()) {
            switch (input) {
                case VALUES -> sample.values(doubles(segments, "values"));
                case BASELINE -> sample.baseline(orNaN(row.getAs("baseline")));
                case SQUARED_PROBABILITIES ->
                    sample.logProbs(doubles(segments, "old_log_probs"))
                            .squaredProbabilities(doubles(segments, "squared_probabilities"));
                case REWARDS -> sample.rewards(doubles(row, "rewards"));
            }
        }
        return sample.build();
    }

    /** The reward with the penalties of all segments that have one; of a single row its score. */
    private static double score(List<Row> segments) {
        List<Double> scores = segments.stream()
                .map(segment -> segment.<Double>getAs("score"))
                .filter(score -> score != null)
                .toList();
        if (scores.size() <= 1) {
            return scores.isEmpty() ? Double.NaN : scores.get(0);
        }
        double reward = segments.get(0).<Double>getAs("reward");
        return reward + scores.stream().mapToDouble(score -> score - reward).sum();
    }

    private static double[] doubles(List<Row> segments, String field) {
        return segments.stream()
                .flatMapToDouble(segment -> Arrays.stream(doubles(segment, field)))
                .toArray();
    }

    private static double orNaN(Double value) {
        return value == null ? Double.NaN : value;
    }

    private static double[] doubles(Row row, String field) {
        return row.<Number>getList(row.fieldIndex(field)).stream()
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
