package io.bellows.training;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.pytorch.engine.PtNDManager;
import ai.djl.pytorch.jni.ScriptBridge.Mode;
import io.bellows.model.Gradients;
import io.bellows.model.Kernels;
import io.bellows.model.Weights;
import java.util.ArrayList;
import java.util.List;

/**
 * Adam with decoupled weight decay, applied to every parameter (Loshchilov and Hutter, 2019).
 *
 * <p>p ← p·(1 − lr·decay) − lr·m̂ / (√v̂ + eps), with bias-corrected first and second moments m̂ and v̂.
 */
public final class AdamW implements AutoCloseable {

    /**
     * What does not change from step to step.
     *
     * @param beta1 decay of the first moment, in [0, 1)
     * @param beta2 decay of the second moment, in [0, 1)
     * @param epsilon added to the root of the second moment
     * @param weightDecay decoupled decay, at least 0
     */
    public record Settings(double beta1, double beta2, double epsilon, double weightDecay) {}

    private final Kernels kernels;
    private final Settings settings;
    private final PtNDManager manager;
    private final List<NDArray> parameters;
    private final List<NDArray> firstMoments = new ArrayList<>();
    private final List<NDArray> secondMoments = new ArrayList<>();
    private final List<NDArray> steps = new ArrayList<>();

    /**
     * Creates the optimizer with moments of zero.
     *
     * @param kernels the compiled source
     * @param weights what to optimise, in place
     * @param settings what does not change from step to step
     */
    public AdamW(Kernels kernels, Weights weights, Settings settings) {
        this.kernels = kernels;
        this.settings = settings;
        this.manager = kernels.newManager();
        this.parameters = List.copyOf(weights.parameters().values());
        for (NDArray parameter : parameters) {
            firstMoments.add(manager.zeros(parameter.getShape(), DataType.FLOAT32));
            secondMoments.add(manager.zeros(parameter.getShape(), DataType.FLOAT32));
            steps.add(manager.zeros(new Shape(), DataType.FLOAT32));
        }
    }

    /**
     * Applies one step to the weights.
     *
     * @param gradients d(loss)/d(weights), left as they are
     * @param learningRate the step's learning rate
     */
    public void step(Gradients gradients, double learningRate) {
        kernels.run(
                "adamw",
                Mode.INFERENCE,
                parameters,
                gradients.tensors(),
                firstMoments,
                secondMoments,
                steps,
                learningRate,
                settings.beta1(),
                settings.beta2(),
                settings.weightDecay(),
                settings.epsilon());
    }

    @Override
    public void close() {
        manager.close();
    }
}
