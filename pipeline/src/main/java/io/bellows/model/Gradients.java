package io.bellows.model;

import ai.djl.ndarray.NDArray;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.engine.PtNDManager;
import ai.djl.pytorch.jni.JniUtils;
import ai.djl.pytorch.jni.ScriptBridge.Mode;
import java.util.ArrayList;
import java.util.List;

/** The gradients of a set of weights: one buffer per parameter, made once, that backward passes add to. */
public final class Gradients implements AutoCloseable {

    private final Kernels kernels;
    private final PtNDManager manager;
    private final List<NDArray> parameters;
    private final List<NDArray> tensors;

    private Gradients(Kernels kernels, PtNDManager manager, List<NDArray> parameters, List<NDArray> tensors) {
        this.kernels = kernels;
        this.manager = manager;
        this.parameters = parameters;
        this.tensors = tensors;
    }

    /**
     * Enables gradients on the weights and allocates their buffers, filled with zeros.
     *
     * @param kernels the compiled source
     * @param weights the weights; must outlive this object
     * @return the gradients, to be closed by the caller
     */
    public static Gradients of(Kernels kernels, Weights weights) {
        PtNDManager manager = kernels.newManager();
        List<NDArray> parameters = List.copyOf(weights.parameters().values());
        parameters.forEach(parameter -> parameter.setRequiresGradient(true));
        try (GradientMode on = GradientMode.on()) {
            kernels.run("make_gradients", Mode.ORDINARY, parameters);
        }
        List<NDArray> tensors = new ArrayList<>();
        for (NDArray parameter : parameters) {
            NDArray gradient = JniUtils.getGradient((PtNDArray) parameter); // aliases the leaf's buffer
            gradient.attach(manager);
            tensors.add(gradient);
        }
        Gradients gradients = new Gradients(kernels, manager, parameters, List.copyOf(tensors));
        gradients.zero(); // a leaf keeps the buffer that it got before
        return gradients;
    }

    /**
     * Returns the buffers in the order of {@link Weights#parameters()}.
     *
     * @return an unmodifiable list
     */
    public List<NDArray> tensors() {
        return tensors;
    }

    /**
     * Returns the same buffers, of which norm, scale and step see only some ranges.
     *
     * @param ranges of the parameters
     * @return gradients that share the memory of these, to be closed by the caller
     */
    public Gradients only(List<ParameterRange> ranges) {
        PtNDManager views = kernels.newManager();
        return new Gradients(kernels, views, List.of(), ParameterRange.views(kernels, views, tensors, ranges));
    }

    /** The buffer of the embedding, which is the first parameter. */
    NDArray ofEmbedding() {
        return tensors.get(0);
    }

    /** The buffer of one parameter. */
    NDArray of(NDArray parameter) {
        int i = 0;
        while (parameters.get(i) != parameter) { // the same tensor, not one with equal values
            i++;
        }
        return tensors.get(i);
    }

    /**
     * Returns the Euclidean norm over all parameters.
     *
     * @return the norm; not finite if any gradient is not
     */
    public double norm() {
        if (tensors.isEmpty()) {
            return 0; // a rank with less than one scalar to look after
        }
        try (GradientMode off = GradientMode.off();
                PtNDManager scope = kernels.newManager()) {
            return kernels.tensor(scope, "norm", Mode.ORDINARY, tensors).getFloat();
        }
    }

    /**
     * Multiplies all gradients.
     *
     * @param factor the factor
     */
    public void scale(double factor) {
        try (GradientMode off = GradientMode.off()) {
            kernels.run("scale", Mode.ORDINARY, tensors, factor);
        }
    }

    /** Sets all gradients to zero. */
    public void zero() {
        try (GradientMode off = GradientMode.off()) {
            kernels.run("zero", Mode.ORDINARY, tensors);
        }
    }

    @Override
    public void close() {
        manager.close();
    }
}
