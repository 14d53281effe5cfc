package io.bellows.stage;

import static org.apache.spark.sql.functions.abs;
import static org.apache.spark.sql.functions.expm1;
import static org.apache.spark.sql.functions.greatest;
import static org.apache.spark.sql.functions.least;
import static org.apache.spark.sql.functions.lit;

import io.bellows.udfs.loss.KlPenalty;
import org.apache.spark.sql.Column;

/** {@link KlPenalty#value} as an expression of plain Spark functions, which an accelerator can run. */
final class KlExpressions {

    private KlExpressions() {}

    /** The divergence estimate of a token from its log-probs under the policy and under the reference. */
    static Column value(KlPenalty kind, Column logProb, Column refLogProb) {
        Column d = logProb.cast("double").minus(refLogProb.cast("double"));
        return switch (kind) {
            case K1, K1_PLUS -> d;
            case ABS, ABS_PLUS -> abs(d);
            case K2, K2_PLUS -> d.multiply(d).multiply(0.5);
            case K3, K3_PLUS -> {
                Column r =
                        greatest(lit(-KlPenalty.MAX_LOG_RATIO), least(lit(KlPenalty.MAX_LOG_RATIO), d.multiply(-1.0)));
                yield least(expm1(r).minus(r), lit(KlPenalty.MAX_K3));
            }
        };
    }
}
