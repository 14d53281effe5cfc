package io.bellows.model;

import ai.djl.ndarray.NDArray;
import ai.djl.pytorch.jni.ScriptBridge.Mode;

/** A forward pass of a critic whose graph is kept until closed: {@link ForwardPass} with {@link Head#VALUE}. */
public final class ValuePass implements AutoCloseable {

    private final Decoder decoder;
    private final HiddenStates states;
    private final Weights weights;
    private final float[] values;

    ValuePass(Decoder decoder, HiddenStates states, Weights weights) {
        this.decoder = decoder;
        this.states = states;
        this.weights = weights;
        try (GradientMode off = GradientMode.off()) {
            this.values = decoder.values(states.scope(), Mode.ORDINARY, states.values(), weights);
        }
    }

    /**
     * Returns what the critic expects before each scored token.
     *
     * @return the values, N
     */
    public float[] values() {
        return values;
    }

    /**
     * Adds d(loss)/d(weights) to the gradients.
     *
     * @param gradients where to add
     * @param dValue d(loss)/d(value) of each scored token, N
     */
    public void backward(Gradients gradients, float[] dValue) {
        NDArray dHidden;
        try (GradientMode off = GradientMode.off()) {
            dHidden = decoder.valuesBackward(states, weights, gradients, dValue);
        }
        states.backward(gradients, dHidden);
    }

    @Override
    public void close() {
        states.close();
    }
}
