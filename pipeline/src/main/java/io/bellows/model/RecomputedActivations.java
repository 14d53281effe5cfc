package io.bellows.model;

import ai.djl.ndarray.NDArray;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.engine.PtNDManager;
import ai.djl.pytorch.jni.JniUtils;
import ai.djl.pytorch.jni.ScriptBridge;
import ai.djl.pytorch.jni.ScriptBridge.Mode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;

/** Hidden states with the inputs of the layers; the backward pass computes each layer again, the last one first. */
final class RecomputedActivations implements HiddenStates {

    private final PtNDManager scope;
    private final Trunk trunk;
    private final List<NDArray> inputs = new ArrayList<>();
    private final RotaryTable turns;
    private final NDArray values;

    RecomputedActivations(PtNDManager scope, Trunk trunk) {
        this.scope = scope;
        this.trunk = trunk;
        try (GradientMode off = GradientMode.off()) {
            inputs.add(trunk.embed(scope, Mode.ORDINARY));
            this.turns = trunk.turns(scope, inputs.get(0));
            for (int layer = 0; layer < trunk.layers(); layer++) {
                inputs.add(trunk.layer(scope, layer, inputs.get(layer), turns));
            }
            this.values = trunk.finalNorm(scope, inputs.get(trunk.layers()));
        }
    }

    @Override
    public NDArray values() {
        return values;
    }

    @Override
    public void backward(Gradients gradients, NDArray gradient) {
        NDArray d;
        try (GradientMode on = GradientMode.on()) {
            d = through(trunk.layers(), trunk::finalNorm, gradient);
            for (int l = trunk.layers() - 1; l >= 0; l--) {
                int layer = l;
                d = through(layer, (manager, input) -> trunk.layer(manager, layer, input, turns), d);
            }
        }
        try (GradientMode off = GradientMode.off()) {
            trunk.embedBackward(gradients.ofEmbedding(), d);
        }
    }

    /** Computes one step again, and carries the gradient of its output to the weights and to its input. */
    private NDArray through(int index, BiFunction<PtNDManager, NDArray, NDArray> step, NDArray gradient) {
        try (PtNDManager owner = trunk.kernels().newManager();
                NDArray input = inputs.get(index)) {
            input.setRequiresGradient(true);
            ScriptBridge.backward(step.apply(owner, input), gradient);
            gradient.close();
            NDArray back = JniUtils.getGradient((PtNDArray) input);
            back.attach(scope);
            return back;
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
