package io.bellows.model;

import ai.djl.ndarray.NDArray;
import ai.djl.pytorch.engine.PtNDManager;

/**
 * The final hidden states of a pass over sequences, with a way back to the weights: what a head, be it the vocabulary's or
 * a critic's, stands on.
 */
public interface HiddenStates extends AutoCloseable {

    /**
     * Returns the hidden states after the final norm, without a graph.
     *
     * @return [N, H] fp32, one row for each scored token, N in all: the state before that token
     */
    NDArray values();

    /**
     * Adds d(loss)/d(weights of the trunk) to the gradients. Call it once.
     *
     * @param gradients where to add
     * @param gradient d(loss)/d(values), [N, H] fp32
     */
    void backward(Gradients gradients, NDArray gradient);

    /**
     * Returns the owner of this pass's tensors, for a head's own.
     *
     * @return a manager that {@link #close} closes
     */
    PtNDManager scope();

    @Override
    void close();
}
