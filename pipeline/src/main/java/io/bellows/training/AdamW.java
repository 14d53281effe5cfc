package io.bellows.training;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.pytorch.engine.PtNDManager;
import ai.djl.pytorch.jni.ScriptBridge.Mode;
import io.bellows.config.OptimConfig;
import io.bellows.model.Gradients;
import io.bellows.model.InvalidModelException;
import io.bellows.model.Kernels;
import io.bellows.model.TensorFile;
import io.bellows.model.Weights;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

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
    public record Settings(double beta1, double beta2, double epsilon, double weightDecay) implements Serializable {
        /**
         * Takes the constants from a configuration.
         *
         * @param optim the section {@code actor.optim}
         * @return the constants
         */
        public static Settings of(OptimConfig optim) {
            return new Settings(optim.betas().get(0), optim.betas().get(1), optim.eps(), optim.weightDecay());
        }
    }

    private static final String STEP = "step";
    private static final String SKIPPED = "skipped_in_a_row";

    private final Kernels kernels;
    private final Settings settings;
    private final PtNDManager manager;
    private final Weights weights;
    private final List<NDArray> parameters;
    private final List<NDArray> firstMoments = new ArrayList<>();
    private final List<NDArray> secondMoments = new ArrayList<>();
    private final List<NDArray> steps = new ArrayList<>();
    private long stepsTaken;
    private int skippedInARow;

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
        this.weights = weights;
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
        weights.refresh();
        stepsTaken++;
        skippedInARow = 0;
    }

    /**
     * Notes that a step was left out because its gradient was not finite.
     *
     * @return how many were left out since the last step, over all starts of a run
     */
    public int skip() {
        return ++skippedInARow;
    }

    /**
     * Returns the number of steps applied so far, over all starts of a run.
     *
     * @return the count
     */
    public long stepsTaken() {
        return stepsTaken;
    }

    /**
     * Saves moments and step count, and the weights themselves in fp32, whatever type the model folder stores.
     *
     * @param file a safetensors file to write
     */
    public void save(Path file) {
        Map<String, String> counts = new TreeMap<>(); // in one order, so that equal states are equal files
        counts.put(STEP, Long.toString(stepsTaken));
        counts.put(SKIPPED, Integer.toString(skippedInARow));
        TensorFile.write(file, named(), counts);
    }

    /**
     * Goes on where {@link #save} stopped: fills moments, step count and weights.
     *
     * @param file what {@link #save} wrote
     * @throws InvalidModelException if the file does not fit the weights
     */
    public void restore(Path file) {
        Map<String, String> metadata = TensorFile.read(file, named());
        weights.refresh();
        try {
            stepsTaken = Long.parseLong(metadata.get(STEP));
            skippedInARow = Integer.parseInt(metadata.getOrDefault(SKIPPED, "0"));
        } catch (NumberFormatException e) {
            throw new InvalidModelException(
                    "Invalid optimizer state " + file + ": its header has no usable counts, found " + metadata, e);
        }
        steps.forEach(step -> step.set(new float[] {stepsTaken}));
    }

    /**
     * Fills only the weights from what {@link #save} wrote, for a model that is not trained here.
     *
     * @param weights what to fill
     * @param file what {@link #save} wrote
     */
    public static void restoreWeights(Weights weights, Path file) {
        TensorFile.read(file, weights.parameters());
        weights.refresh();
    }

    /** Forgets moments and step count. */
    public void reset() {
        stepsTaken = 0;
        skippedInARow = 0;
        for (List<NDArray> tensors : List.of(firstMoments, secondMoments, steps)) {
            kernels.run("zero", Mode.INFERENCE, tensors);
        }
    }

    private Map<String, NDArray> named() {
        Map<String, NDArray> tensors = new LinkedHashMap<>();
        int i = 0;
        for (Map.Entry<String, NDArray> parameter : weights.parameters().entrySet()) {
            tensors.put(parameter.getKey(), parameter.getValue());
            tensors.put(parameter.getKey() + ".exp_avg", firstMoments.get(i));
            tensors.put(parameter.getKey() + ".exp_avg_sq", secondMoments.get(i++));
        }
        return tensors;
    }

    @Override
    public void close() {
        manager.close();
    }
}
