package io.bellows.run;

import io.bellows.cluster.Cluster;
import io.bellows.resident.ExecutorHost.Role;
import io.bellows.resident.WeightsRef;
import io.bellows.stage.LoadStage;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.sql.SparkSession;

/**
 * The load of weights that not every executor holds: those that a loop starts from, and those that fewer ranks than executors made.
 *
 * @param stage weights into memory
 * @param reference the reference policy, or null where nothing is measured against it
 * @param cluster tells how many executors there are
 */
record ModelLoad(LoadStage stage, WeightsRef reference, Cluster cluster) {

    /** Whether there are executors that the last update has not left the weights on. */
    boolean isDue(Models models) {
        return executors() > models.ranks();
    }

    void run(SparkSession spark, Models models) {
        Map<Role, WeightsRef> weights = new LinkedHashMap<>();
        weights.put(Role.POLICY, models.policy());
        if (reference != null) {
            weights.put(Role.REFERENCE, reference);
        }
        if (models.critic() != null) {
            weights.put(Role.CRITIC, models.critic());
        }
        stage.run(spark, weights, executors());
    }

    int executors() {
        return Math.max(1, cluster.executors());
    }
}
