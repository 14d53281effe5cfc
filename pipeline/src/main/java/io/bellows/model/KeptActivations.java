package io.bellows.model;

import ai.djl.ndarray.NDArray;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.engine.PtNDManager;
import ai.djl.pytorch.jni.JniUtils;
import ai.djl.pytorch.jni.ScriptBridge;

/** Hidden states whose graph holds every activation of the pass. */
final class KeptActivations implements HiddenStates {

    private final PtNDManager scope;
    private final NDArray states;
    private final NDArray detached;

    KeptActivations(PtNDManager scope, NDArray states) {
        this.scope = scope;
        this.states = states;
        this.detached = JniUtils.detachGradient((PtNDArray) states);
        this.detached.attach(scope);
    }

    @Override
    public NDArray values() {
        return detached;
    }

    @Override
    public void backward(NDArray gradient) {
        ScriptBridge.backward(states, gradient);
    }

    @Override
    public PtNDManager scope() {
        return scope;
    }

    @Override
    public void close() {
        scope.close();
    }
}
