package io.bellows.engine;

/** When the engine lets a request in. */
public enum Admission {
    /** As soon as a slot is free. The fastest; results may differ in float noise with what runs beside. */
    CONTINUOUS,
    /**
     * A batch is drained before the next is let in. The results of a batch are then bit-exact functions of the batch and
     * the weights, whatever was generated before.
     */
    ORDERED
}
