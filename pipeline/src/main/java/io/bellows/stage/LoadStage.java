package io.bellows.stage;

import io.bellows.cluster.WorkerGroup;
import io.bellows.resident.ExecutorHost.Role;
import io.bellows.resident.ResidentSettings;
import io.bellows.resident.WeightsRef;
import java.io.Serializable;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.sql.SparkSession;

/**
 * Weights into the memory of every executor, before the tasks that need them. Where an executor has them already this costs nothing; one
 * that came later, or was given no rank, loads them with its first task.
 *
 * @param owner the run
 * @param resident how executors set a model up
 * @param patience longest wait of a rank for another
 */
public record LoadStage(String owner, ResidentSettings resident, Duration patience) implements Serializable {

    /**
     * Loads.
     *
     * @param spark the session
     * @param models the weights of each model
     * @param executors how many there are
     */
    public void run(SparkSession spark, Map<Role, WeightsRef> models, int executors) {
        new WorkerGroup(spark, executors, patience)
                .workers(ModelWorker.class, ranks -> new ModelRank(owner, resident, null, ranks))
                .load(new LinkedHashMap<>(models));
    }
}
