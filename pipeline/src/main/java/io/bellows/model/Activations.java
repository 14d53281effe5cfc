package io.bellows.model;

/** What a training pass keeps between forward and backward. */
public enum Activations {
    /** Every activation: the fastest. */
    KEEP,
    /**
     * The input of each layer only; the backward pass computes a layer again when it comes to it. About a third more
     * computation (Chen et al., 2016, "Training Deep Nets with Sublinear Memory Cost").
     */
    RECOMPUTE
}
