package io.bellows.stage;

import io.bellows.cluster.DispatchModes;
import io.bellows.cluster.RankRows;
import io.bellows.cluster.Register;
import io.bellows.resident.ExecutorHost.Role;
import io.bellows.resident.WeightsRef;
import java.io.Serializable;
import java.util.List;
import java.util.Map;

/** What the executors that hold the models of a run do together. */
interface ModelWorker {

    /**
     * Which weights to change, and where the new ones go.
     *
     * @param role the model
     * @param from the weights to start from
     * @param checkpoint a folder that driver and executors reach under the same path
     * @param id of the update
     */
    record Change(Role role, WeightsRef from, String checkpoint, String id) implements Serializable {}

    /**
     * A rank's part of what an update came to.
     *
     * @param rank whose share of the optimizer state it wrote
     * @param result metrics of its rows
     * @param folder of the attempt that wrote it
     */
    record Part(int rank, UpdateStage.Result result, String folder) implements Serializable {}

    /** Takes the weights into memory. */
    @Register(dispatch = DispatchModes.ONE_TO_ALL)
    void load(Map<Role, WeightsRef> models);

    /** Takes the optimizer steps of planned rows. */
    @Register(dispatch = DispatchModes.DP_COMPUTE_PROTO)
    List<Part> update(RankRows rows, Change change);

    /** Writes the weights as they are. */
    @Register(dispatch = DispatchModes.ONE_TO_ALL)
    List<Part> keep(Change change);
}
