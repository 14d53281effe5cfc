package io.bellows.run;

import io.bellows.cluster.Cluster;
import io.bellows.resident.WeightsRef;
import io.bellows.stage.UpdatePlan;
import io.bellows.stage.UpdateStage;
import java.nio.file.Path;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * The update of a policy or a critic.
 *
 * @param plan experience to planned rows
 * @param stage planned rows to new weights
 * @param cluster decides on the ranks
 */
record ModelUpdate(UpdatePlan plan, UpdateStage stage, Cluster cluster) {

    /** What an iteration learns from; policy and critic learn from the same. */
    record Input(Dataset<Row> trajectories, Dataset<Row> experience, int iteration) {}

    UpdateStage.Result run(Input input, WeightsRef from, Path checkpoint) {
        int ranks = cluster.ranks();
        Dataset<Row> rows = plan.rows(input.trajectories, input.experience, input.iteration, ranks);
        return stage.run(rows, from, checkpoint, ranks);
    }

    /** Writes the weights as they are. */
    UpdateStage.Result keep(SparkSession spark, WeightsRef from, Path checkpoint) {
        return stage.keep(spark, from, checkpoint, cluster.ranks());
    }
}
