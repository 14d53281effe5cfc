package io.bellows.env;

import java.util.concurrent.CompletableFuture;

/** The model that environments talk to: the engine of this process or a server. Safe for several threads. */
public interface ModelClient {

    /** A turn in the making. */
    interface Call {

        /**
         * The turn. It fails with a {@link ModelException} if this turn cannot be completed; with anything else if the model is of no
         * use any more, which ends the whole rollout.
         */
        CompletableFuture<ModelTurn> turn();

        /** Ends it early: it completes with what there is, or is cancelled. */
        void abort();
    }

    /** Asks for a turn. */
    Call generate(ModelRequest request);

    /**
     * Says that a trajectory will ask for nothing any more.
     *
     * @param trajectory the trajectory
     */
    default void leave(ModelRequest.TrajectoryId trajectory) {}
}
