package io.bellows.run;

import io.bellows.resident.WeightsRef;
import io.bellows.stage.UpdatePlan;
import io.bellows.stage.UpdateStage;
import java.nio.file.Path;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * The update of a policy or a critic.
 *
 * @param plan experience to planned rows
 * @param stage planned rows to new weights
 */
record ModelUpdate(UpdatePlan plan, UpdateStage stage) {

    /** What an iteration learns from; policy and critic learn from the same. */
    record Input(Dataset<Row> trajectories, Dataset<Row> experience, int iteration) {}

    UpdateStage.Result run(Input input, WeightsRef from, Path checkpoint) {
        return stage.run(plan.rows(input.trajectories, input.experience, input.iteration), from, checkpoint);
    }
}
