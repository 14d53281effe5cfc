package io.bellows.cluster;

import java.io.Serializable;

/**
 * Makes a worker of a {@link WorkerGroup} for one call on one executor. A worker holds nothing between calls: what is expensive to
 * make, the executor's host keeps, and it can be made again from what the arguments name, on whichever executor the rank runs next.
 *
 * @param <W> the worker interface
 */
@FunctionalInterface
public interface WorkerFactory<W> extends Serializable {

    /**
     * Makes it.
     *
     * @param ranks tells which rank this is, and where the others are
     * @return the worker
     */
    W create(Rendezvous ranks);
}
