package io.bellows.model;

import ai.djl.ndarray.NDArray;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.engine.PtNDManager;
import ai.djl.pytorch.jni.JniUtils;
import ai.djl.pytorch.jni.ScriptBridge;
import ai.djl.pytorch.jni.ScriptBridge.Mode;

/** Hidden states whose graph holds every activation of the pass. */
final class KeptActivations implements HiddenStates {

    private final PtNDManager scope;
    private final Trunk trunk;
    private final NDArray embedded;
    private final NDArray states;
    private final NDArray detached;

    KeptActivations(PtNDManager scope, Trunk trunk) {
        this.scope = scope;
        this.trunk = trunk;
        try (GradientMode off = GradientMode.off()) {
            this.embedded = trunk.embed(scope, Mode.ORDINARY);
        }
        embedded.setRequiresGradient(true); // the graph begins here: the embedding's own gradient is added in place
        try (GradientMode on = GradientMode.on()) {
            this.states = trunk.states(scope, Mode.ORDINARY, embedded);
        }
        this.detached = JniUtils.detachGradient((PtNDArray) states);
        this.detached.attach(scope);
    }

    @Override
    public NDArray values() {
        return detached;
    }

    @Override
    public void backward(Gradients gradients, NDArray gradient) {
        ScriptBridge.backward(states, gradient);
        try (GradientMode off = GradientMode.off();
                NDArray dEmbedded = JniUtils.getGradient((PtNDArray) embedded)) {
            trunk.embedBackward(gradients.ofEmbedding(), dEmbedded);
        }
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
