package io.bellows.udfs.sql;

import static io.bellows.udfs.sql.SqlArrays.array;
import static io.bellows.udfs.sql.SqlArrays.doubles;
import static io.bellows.udfs.sql.SqlArrays.mask;

import io.bellows.udfs.loss.KlPenalty;
import io.bellows.udfs.metrics.ExplainedVariance;
import io.bellows.udfs.statistics.MaskedStatistics;
import io.bellows.udfs.statistics.PassAtK;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/** Divergences and statistics on Spark's values; {@link SqlFunctions} documents each. Public because Spark's generated code calls them. */
public final class StatisticFunctions {

    private StatisticFunctions() {}

    /** See {@link KlPenalty#value}. */
    public static double klPenalty(double logProb, double refLogProb, UTF8String kind) {
        return KlPenalty.of(kind.toString()).value(logProb, refLogProb);
    }

    /** See {@link KlPenalty#value}. */
    public static ArrayData klPenalties(ArrayData logProbs, ArrayData refLogProbs, UTF8String kind) {
        double[] policy = doubles(logProbs);
        double[] reference = doubles(refLogProbs);
        if (policy.length != reference.length) {
            throw new IllegalArgumentException("Invalid log-probs: " + policy.length + " of the policy and "
                    + reference.length + " of the reference; give one of each per token");
        }
        KlPenalty penalty = KlPenalty.of(kind.toString());
        double[] values = new double[policy.length];
        for (int t = 0; t < values.length; t++) {
            values[t] = penalty.value(policy[t], reference[t]);
        }
        return array(values);
    }

    /** See {@link MaskedStatistics#sum}. */
    public static double maskedSum(ArrayData values, ArrayData mask) {
        return MaskedStatistics.sum(doubles(values), mask(mask));
    }

    /** See {@link MaskedStatistics#mean}. */
    public static double maskedMean(ArrayData values, ArrayData mask) {
        return MaskedStatistics.mean(doubles(values), mask(mask));
    }

    /** See {@link MaskedStatistics#variance}. */
    public static double maskedVar(ArrayData values, ArrayData mask) {
        return MaskedStatistics.variance(doubles(values), mask(mask));
    }

    /** See {@link MaskedStatistics#whiten}. */
    public static ArrayData maskedWhiten(ArrayData values, ArrayData mask) {
        return array(MaskedStatistics.whiten(doubles(values), mask(mask)));
    }

    /** See {@link ExplainedVariance}; null without two sampled tokens. */
    public static Double explainedVariance(ArrayData returns, ArrayData values, ArrayData mask) {
        double[] actual = doubles(returns);
        double[] predicted = doubles(values);
        boolean[] sampled = mask(mask);
        if (actual.length != predicted.length || actual.length != sampled.length) {
            throw new IllegalArgumentException("Invalid arguments: " + actual.length + " returns, " + predicted.length
                    + " values and a mask of " + sampled.length + "; give one of each per token");
        }
        ExplainedVariance explained = ExplainedVariance.empty();
        for (int t = 0; t < actual.length; t++) {
            explained = sampled[t] ? explained.with(actual[t], predicted[t]) : explained;
        }
        return explained.hasValue() ? (Double) explained.value() : null;
    }

    /** See {@link PassAtK#estimate}. */
    public static double passAtK(int samples, int correct, int k) {
        return PassAtK.estimate(samples, correct, k);
    }
}
