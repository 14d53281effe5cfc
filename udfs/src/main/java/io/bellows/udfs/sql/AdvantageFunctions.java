package io.bellows.udfs.sql;

import static io.bellows.udfs.sql.SqlArrays.array;
import static io.bellows.udfs.sql.SqlArrays.doubles;
import static io.bellows.udfs.sql.SqlArrays.mask;
import static io.bellows.udfs.sql.SqlArrays.masks;
import static io.bellows.udfs.sql.SqlArrays.matrix;

import io.bellows.udfs.advantage.AdvantageEstimator;
import io.bellows.udfs.advantage.Advantages;
import io.bellows.udfs.advantage.GaeAdvantage;
import io.bellows.udfs.advantage.GdpoAdvantage;
import io.bellows.udfs.advantage.GrpoAdvantage;
import io.bellows.udfs.advantage.GrpoAdvantage.Normalization;
import io.bellows.udfs.advantage.GrpoPassKAdvantage;
import io.bellows.udfs.advantage.OpoAdvantage;
import io.bellows.udfs.advantage.OptimalTokenBaseline;
import io.bellows.udfs.advantage.OptimalTokenBaseline.Steps;
import io.bellows.udfs.advantage.OptimalTokenBaseline.Tail;
import io.bellows.udfs.advantage.ReinforcePlusPlusAdvantage;
import io.bellows.udfs.advantage.RemaxAdvantage;
import io.bellows.udfs.advantage.RlooAdvantage;
import io.bellows.udfs.advantage.Sample;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.util.ArrayData;

/** Advantage estimators on Spark's arrays; {@link SqlFunctions} documents each. Public because Spark's generated code calls them. */
public final class AdvantageFunctions {

    private AdvantageFunctions() {}

    /** See {@link GrpoAdvantage}. */
    public static ArrayData grpo(ArrayData scores, boolean normByStd) {
        return array(GrpoAdvantage.advantages(doubles(scores), normalization(normByStd)));
    }

    /** See {@link GrpoPassKAdvantage}. */
    public static ArrayData grpoPassK(ArrayData scores, boolean normByStd) {
        return array(GrpoPassKAdvantage.advantages(doubles(scores), normalization(normByStd)));
    }

    /** See {@link RlooAdvantage}. */
    public static ArrayData rloo(ArrayData scores) {
        return array(RlooAdvantage.advantages(doubles(scores)));
    }

    /** See {@link OpoAdvantage}. */
    public static ArrayData opo(ArrayData scores, ArrayData lengths) {
        return array(OpoAdvantage.advantages(doubles(scores), doubles(lengths)));
    }

    /** See {@link io.bellows.udfs.advantage.GpgAdvantage}. */
    public static ArrayData gpg(ArrayData scores, double scale) {
        double[] differences = GrpoAdvantage.advantages(doubles(scores), Normalization.NONE);
        return array(Arrays.stream(differences).map(x -> x * scale).toArray());
    }

    /** See {@link io.bellows.udfs.advantage.ReinforcePlusPlusBaselineAdvantage}. */
    public static ArrayData reinforcePlusPlusBaseline(ArrayData scores) {
        return array(GrpoAdvantage.advantages(doubles(scores), Normalization.NONE));
    }

    /** See {@link GdpoAdvantage}. */
    public static ArrayData gdpo(ArrayData rewards, ArrayData weights, boolean normByStd) {
        List<Double> factors = Arrays.stream(doubles(weights)).boxed().toList();
        boolean[] oneToken = {true};
        List<Sample> group = Arrays.stream(matrix(rewards))
                .map(byKey -> Sample.of(0, new double[1], oneToken)
                        .rewards(byKey == null ? new double[] {Double.NaN} : ofLength(factors.size(), byKey))
                        .build())
                .toList();
        return array(first(new GdpoAdvantage(normalization(normByStd), factors).estimate(group)));
    }

    private static double[] ofLength(int weights, double[] rewards) {
        if (rewards.length != weights) {
            throw new IllegalArgumentException("Invalid arguments: " + rewards.length + " rewards of a trajectory and "
                    + weights + " weights; give one weight per reward");
        }
        return rewards;
    }

    /** See {@link GaeAdvantage}. */
    public static ArrayData gaeAdvantage(
            ArrayData tokenRewards, ArrayData values, ArrayData mask, double gamma, double lam) {
        return array(gae(tokenRewards, values, mask, gamma, lam).advantages());
    }

    /** See {@link GaeAdvantage}. */
    public static ArrayData gaeReturn(
            ArrayData tokenRewards, ArrayData values, ArrayData mask, double gamma, double lam) {
        return array(gae(tokenRewards, values, mask, gamma, lam).returns());
    }

    private static Advantages gae(ArrayData tokenRewards, ArrayData values, ArrayData mask, double gamma, double lam) {
        return new GaeAdvantage(gamma, lam)
                .estimate(Sample.of(0, doubles(tokenRewards), mask(mask))
                        .values(doubles(values))
                        .build());
    }

    /** See {@link ReinforcePlusPlusAdvantage}. */
    public static ArrayData reinforcePlusPlus(ArrayData tokenRewards, ArrayData mask, double gamma) {
        Sample sample = Sample.of(0, doubles(tokenRewards), mask(mask)).build();
        return array(new ReinforcePlusPlusAdvantage(gamma).estimate(sample).advantages());
    }

    /** See {@link RemaxAdvantage}. */
    public static ArrayData remax(ArrayData tokenRewards, ArrayData mask, double baseline) {
        Sample sample = Sample.of(0, doubles(tokenRewards), mask(mask))
                .baseline(baseline)
                .build();
        return array(new RemaxAdvantage().estimate(sample).advantages());
    }

    /** See {@link OptimalTokenBaseline}. */
    public static ArrayData optimalTokenBaseline(
            ArrayData tokenRewards, ArrayData masks, ArrayData logProbs, ArrayData squaredProbabilities) {
        return optimalTokenBaseline(Steps.POSITIONS, tokenRewards, masks, logProbs, squaredProbabilities);
    }

    /** See {@link OptimalTokenBaseline}. */
    public static ArrayData tirOptimalTokenBaseline(
            ArrayData tokenRewards, ArrayData masks, ArrayData logProbs, ArrayData squaredProbabilities) {
        return optimalTokenBaseline(Steps.SAMPLED_TOKENS, tokenRewards, masks, logProbs, squaredProbabilities);
    }

    private static ArrayData optimalTokenBaseline(
            Steps steps, ArrayData tokenRewards, ArrayData masks, ArrayData logProbs, ArrayData squaredProbabilities) {
        double[][] rewards = matrix(tokenRewards);
        boolean[][] sampled = masks(masks);
        double[][] logs = matrix(logProbs);
        double[][] squares = matrix(squaredProbabilities);
        if (sampled.length != rewards.length || logs.length != rewards.length || squares.length != rewards.length) {
            throw new IllegalArgumentException("Invalid arguments: " + rewards.length + " arrays of token rewards, "
                    + sampled.length + " masks, " + logs.length + " arrays of log-probs and " + squares.length
                    + " of squared probabilities; give one of each per trajectory");
        }
        List<Sample> group = new ArrayList<>();
        for (int i = 0; i < rewards.length; i++) {
            boolean absent = rewards[i] == null || sampled[i] == null || logs[i] == null || squares[i] == null;
            group.add(
                    absent
                            ? Sample.outcome(Double.NaN, sampled[i] == null ? new boolean[0] : sampled[i])
                            : Sample.of(Arrays.stream(rewards[i]).sum(), rewards[i], sampled[i])
                                    .logProbs(logs[i])
                                    .squaredProbabilities(squares[i])
                                    .build());
        }
        AdvantageEstimator estimator = new OptimalTokenBaseline(steps, Tail.ZERO);
        return SqlArrays.arrayOfArrays(
                estimator.estimate(group).stream().map(Advantages::advantages).toArray(double[][]::new));
    }

    private static double[] first(List<Advantages> estimates) {
        return estimates.stream()
                .mapToDouble(estimate -> estimate.advantages()[0])
                .toArray();
    }

    private static Normalization normalization(boolean normByStd) {
        return normByStd ? Normalization.BY_STD : Normalization.NONE;
    }
}
