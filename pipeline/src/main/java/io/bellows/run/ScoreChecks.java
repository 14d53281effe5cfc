package io.bellows.run;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.when;

import io.bellows.config.RewardConfig;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/** What scores must be for an iteration to go on. */
final class ScoreChecks {

    private ScoreChecks() {}

    /**
     * Stops an iteration in which too many rewards failed, or none was given.
     *
     * @param scores rows of {@link io.bellows.trajectory.Table#SCORES}
     * @throws InvalidRunException with the first message
     */
    static void refuseUnusable(Dataset<Row> scores, int iteration, RewardConfig reward) {
        Dataset<Row> failures = scores.where(col("status").equalTo("failed"));
        Row counts = scores.agg(count(lit(1)), count(when(col("status").equalTo("failed"), 1)), count(col("reward")))
                .head();
        long all = counts.getLong(0);
        long failed = counts.getLong(1);
        if (failed > reward.maxErrorRate() * all) {
            throw new InvalidRunException("Cannot go on with iteration " + iteration + ": " + failed + " of " + all
                    + " rewards failed, more than reward.max_error_rate="
                    + reward.maxErrorRate()
                    + " allows; raise it, or mend what failed and delete manifest.json of the scores. The first: "
                    + firstMessage(failures));
        }
        if (counts.getLong(2) == 0) {
            throw new InvalidRunException("Cannot update in iteration " + iteration + ": none of its " + all
                    + " trajectories has a reward, so there is nothing to learn from. The first: "
                    + firstMessage(scores));
        }
    }

    private static String firstMessage(Dataset<Row> scores) {
        return scores.orderBy("trajectory_id").select("message").head().getString(0);
    }
}
