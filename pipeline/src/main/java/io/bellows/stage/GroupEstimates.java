package io.bellows.stage;

import io.bellows.udfs.advantage.AdvantageEstimator;
import io.bellows.udfs.advantage.AdvantageEstimator.Input;
import io.bellows.udfs.advantage.Advantages;
import io.bellows.udfs.advantage.Sample;
import io.bellows.udfs.loss.KlPenalty;
import io.bellows.udfs.sql.MomentsStruct;
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
 * Rewards of tokens and an advantage estimator, as a function on the rows of one group.
 *
 * <p>The reward sits on the last sampled token of a trajectory, the penalty of the divergence on every sampled one; the score is their sum. A
 * trajectory with an empty response has a score and no token; one of which rollout correction left nothing has no score.
 *
 * @param estimator the estimator
 * @param klPenalty the divergence from the reference policy that is subtracted from the reward, or null for none
 * @param klCoef weight of the divergence
 */
record GroupEstimates(AdvantageEstimator estimator, KlPenalty klPenalty, double klCoef)
        implements UDF1<Seq<Row>, List<Row>> {

    private static final StructType ESTIMATE = new StructType()
            .add("score", DataTypes.DoubleType)
            .add("token_level_rewards", DataTypes.createArrayType(DataTypes.DoubleType, false))
            .add("advantages", DataTypes.createArrayType(DataTypes.DoubleType, false))
            .add("returns", DataTypes.createArrayType(DataTypes.DoubleType, false))
            .add("moments", MomentsStruct.TYPE);

    /**
     * Estimates by member of a group, a segment of a trajectory: the {@code score} of the trajectory, null without one, {@code token_level_rewards},
     * {@code advantages} before normalization, {@code returns}, and the {@link Moments} of the
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
        Stream<String> divergence = klPenalty == null ? Stream.of() : Stream.of("old_log_probs", "ref_log_probs");
        return Stream.of(Stream.of("sample_index", "reward", "rejected", "response_mask"), divergence, some)
                .flatMap(names -> names)
                .distinct()
                .toList();
    }

    @Override
    public List<Row> call(Seq<Row> members) {
        List<List<Row>> trajectories = trajectories(members);
        List<Rewarded> rewarded = trajectories.stream().map(this::rewarded).toList();
        List<Sample> group = new ArrayList<>();
        for (int i = 0; i < rewarded.size(); i++) {
            group.add(sample(trajectories.get(i), rewarded.get(i)));
        }
        List<Advantages> estimates = estimator.estimate(group);
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < group.size(); i++) {
            int start = 0;
            for (Row segment : trajectories.get(i)) {
                int end = start
                        + segment.getList(segment.fieldIndex("response_mask")).size();
                rows.add(estimate(rewarded.get(i), group.get(i).isAbsent(), estimates.get(i), start, end));
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

    private static Row estimate(Rewarded rewarded, boolean absent, Advantages estimate, int start, int end) {
        double[] advantages = Arrays.copyOfRange(estimate.advantages(), start, end);
        boolean[] mask = Arrays.copyOfRange(rewarded.mask, start, end);
        return RowFactory.create(
                Double.isNaN(rewarded.score) ? null : (Double) rewarded.score,
                Arrays.copyOfRange(rewarded.rewards, start, end),
                advantages,
                Arrays.copyOfRange(estimate.returns(), start, end),
                absent ? null : MomentsStruct.write(Moments.of(advantages, mask)));
    }

    /** A trajectory's score, NaN without one, and for each token of all its segments the reward and whether it was sampled. */
    private record Rewarded(double score, double[] rewards, boolean[] mask) {}

    private Rewarded rewarded(List<Row> segments) {
        double[] ones = joined(segments, "response_mask");
        double[] rewards = new double[ones.length];
        boolean[] mask = new boolean[ones.length];
        double[] policy = klPenalty == null ? null : joined(segments, "old_log_probs");
        double[] reference = klPenalty == null ? null : joined(segments, "ref_log_probs");
        double penalties = 0;
        int last = -1;
        for (int t = 0; t < ones.length; t++) {
            mask[t] = ones[t] == 1;
            last = mask[t] ? t : last;
            double penalty = mask[t] && klPenalty != null ? klCoef * klPenalty.value(policy[t], reference[t]) : 0;
            penalties += penalty;
            rewards[t] = 0 - penalty;
        }
        double reward = orNaN(segments.get(0).getAs("reward")); // the same in all
        if (last >= 0 && !Double.isNaN(reward)) {
            rewards[last] += reward;
        }
        boolean rejected = last < 0 && segments.stream().anyMatch(row -> row.<Boolean>getAs("rejected"));
        return new Rewarded(rejected ? Double.NaN : reward - penalties, rewards, mask);
    }

    private Sample sample(List<Row> segments, Rewarded rewarded) {
        Row first = segments.get(0); // what is not said token by token is the same in all
        Sample.Builder sample = Sample.of(rewarded.score, rewarded.rewards, rewarded.mask);
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
}
