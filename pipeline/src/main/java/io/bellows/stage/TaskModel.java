package io.bellows.stage;

import io.bellows.env.ModelClient;
import io.bellows.env.ModelRequest.TrajectoryId;
import io.bellows.text.ChatTokenizer;
import java.util.List;

/** What answers the trajectories of a rollout task. */
interface TaskModel extends ModelClient, AutoCloseable {

    /** How long trajectories wait for each other. */
    enum Together {
        /** For the first turn. */
        FIRST_TURN,
        /** For every turn. */
        EVERY_TURN
    }

    /** The tokenizer and chat template of the model. */
    ChatTokenizer text();

    /** Announces trajectories that ask together; all before the first of them asks. */
    void meet(List<TrajectoryId> trajectories, Together together);

    /** Frees what belongs to the task alone. */
    @Override
    default void close() {}
}
