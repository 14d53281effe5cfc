package io.bellows.stage;

import io.bellows.udfs.advantage.AdvantageEstimator;
import io.bellows.udfs.advantage.AdvantageEstimator.Input;
import io.bellows.udfs.advantage.Advantages;
import io.bellows.udfs.advantage.Sample;
import io.bellows.udfs.statistics.Moments;
import java.util.ArrayList;
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
     * Estimates by member of a group: {@code advantages} before normalization, {@code returns}, and the {@link Moments} of the
     * advantages at sampled tokens, null for a member that is absent.
     *
     * @param members an array of structs with the fields of {@link #inputs}
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
        List<Sample> group = new ArrayList<>();
        for (int i = 0; i < members.size(); i++) {
            group.add(sample(members.apply(i)));
        }
        List<Row> rows = new ArrayList<>();
        List<Advantages> estimates = estimator.estimate(group);
        for (int i = 0; i < group.size(); i++) {
            Advantages estimate = estimates.get(i);
            rows.add(RowFactory.create(
                    estimate.advantages(),
                    estimate.returns(),
                    group.get(i).isAbsent()
                            ? null
                            : row(Moments.of(estimate.advantages(), group.get(i).mask()))));
        }
        return rows;
    }

    private Sample sample(Row row) {
        double[] ones = doubles(row, "response_mask");
        boolean[] mask = new boolean[ones.length];
        for (int t = 0; t < mask.length; t++) {
            mask[t] = ones[t] == 1;
        }
        Sample.Builder sample = Sample.of(orNaN(row.getAs("score")), doubles(row, "token_level_rewards"), mask);
        for (Input input : estimator.inputs()) {
            switch (input) {
                case VALUES -> sample.values(doubles(row, "values"));
                case BASELINE -> sample.baseline(orNaN(row.getAs("baseline")));
                case SQUARED_PROBABILITIES ->
                    sample.logProbs(doubles(row, "old_log_probs"))
                            .squaredProbabilities(doubles(row, "squared_probabilities"));
                case REWARDS -> sample.rewards(doubles(row, "rewards"));
            }
        }
        return sample.build();
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
