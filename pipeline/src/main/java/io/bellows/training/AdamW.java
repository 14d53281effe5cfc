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
import io.bellows.model.ParameterRange;
import io.bellows.model.TensorFile;
import io.bellows.model.Weights;
import io.bellows.training.collective.FloatVector;
import java.io.Serializable;
import java.nio.file.Files;
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
    private final int rank;
    private final int ranks;
    private final List<ParameterRange> ranges;
    private List<NDArray> parameters = List.of();
    private final List<NDArray> firstMoments = new ArrayList<>();
    private final List<NDArray> secondMoments = new ArrayList<>();
    private final List<NDArray> steps = new ArrayList<>();
    private long stepsTaken;
    private int skippedInARow;
    private Gradients own;

    /**
     * Creates the optimizer with moments of zero.
     *
     * @param kernels the compiled source
     * @param weights what to optimise, in place
     * @param settings what does not change from step to step
     */
    public AdamW(Kernels kernels, Weights weights, Settings settings) {
        this(kernels, weights, settings, 0, 1);
    }

    /**
     * Creates the optimizer of one of several ranks, with moments of zero. It steps on this rank's block of the parameters, laid end
     * to end.
     *
     * @param kernels the compiled source
     * @param weights what to optimise, in place
     * @param settings what does not change from step to step
     * @param rank the rank, from 0
     * @param ranks how many there are
     */
    public AdamW(Kernels kernels, Weights weights, Settings settings, int rank, int ranks) {
        this.rank = rank;
        this.ranks = ranks;
        this.kernels = kernels;
        this.settings = settings;
        this.weights = weights;
        this.manager = kernels.newManager();
        this.ranges = ParameterRange.between(
                weights,
                FloatVector.start(weights.parameterCount(), rank, ranks),
                FloatVector.start(weights.parameterCount(), rank + 1, ranks));
        viewParameters();
        for (NDArray parameter : parameters) {
            firstMoments.add(manager.zeros(parameter.getShape(), DataType.FLOAT32));
            secondMoments.add(manager.zeros(parameter.getShape(), DataType.FLOAT32));
            steps.add(manager.zeros(new Shape(), DataType.FLOAT32));
        }
    }

    /**
     * Applies one step to the weights.
     *
     * @param gradients d(loss)/d(weights), left as they are; of several ranks {@link #own} ones
     * @param learningRate the step's learning rate
     */
    public void step(Gradients gradients, double learningRate) {
        stepsTaken++;
        skippedInARow = 0;
        if (parameters.isEmpty()) {
            return; // more ranks than scalars
        }
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
    }

    /**
     * Returns the part of the gradients that this optimizer steps on.
     *
     * @param all the gradients of all parameters; the same object in every call
     * @return all of them for one rank, else this rank's block, sharing their memory; stays this object's
     */
    public Gradients own(Gradients all) {
        if (ranks > 1 && own == null) {
            own = all.only(ranges);
        }
        return ranks == 1 ? all : own;
    }

    /**
     * Returns whether this is the optimizer of a rank.
     *
     * @param otherRank the rank
     * @param otherRanks how many there are
     */
    public boolean isOf(int otherRank, int otherRanks) {
        return rank == otherRank && ranks == otherRanks;
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
     * @param file a safetensors file to write; each of several ranks writes one beside it
     */
    public void save(Path file) {
        Map<String, String> counts = new TreeMap<>(); // in one order, so that equal states are equal files
        counts.put(STEP, Long.toString(stepsTaken));
        counts.put(SKIPPED, Integer.toString(skippedInARow));
        if (ranks > 1) {
            ranges.forEach(range -> names(range).forEach(name -> {
                Map.Entry<String, String> note = TensorFile.rangeNote(name, range.from(), range.to());
                counts.put(note.getKey(), note.getValue());
            }));
        }
        TensorFile.write(StateFiles.of(file, rank, ranks), named(), counts);
    }

    /**
     * Goes on where {@link #save} stopped: fills moments, step count and weights.
     *
     * @param file what {@link #save} wrote
     * @throws InvalidModelException if the file does not fit the weights
     */
    public void restore(Path file) {
        Map<String, String> metadata = ranks == 1 && Files.exists(file)
                ? TensorFile.read(file, named())
                : TensorFile.read(StateFiles.existing(file), wanted());
        weights.refresh();
        try {
            stepsTaken = Long.parseLong(metadata.get(STEP));
            skippedInARow = Integer.parseInt(metadata.getOrDefault(SKIPPED, "0"));
        } catch (NumberFormatException e) {
            throw new InvalidModelException(
                    "Invalid optimizer state " + file + ": its header has no usable counts, found " + metadata, e);
        }
        steps.forEach(step -> step.set(new float[] {stepsTaken}));
        viewParameters();
    }

    /** Setting a tensor gives it other memory, so what shares the memory of weights is made anew after that. */
    private void viewParameters() {
        List<NDArray> all = List.copyOf(weights.parameters().values());
        if (ranks == 1) {
            parameters = all;
            return;
        }
        parameters.forEach(NDArray::close);
        parameters = ParameterRange.views(kernels, manager, all, ranges);
    }

    /**
     * Fills only the weights from what {@link #save} wrote, for a model that is not trained here.
     *
     * @param weights what to fill
     * @param file what {@link #save} wrote
     */
    public static void restoreWeights(Weights weights, Path file) {
        if (Files.exists(file)) {
            TensorFile.read(file, weights.parameters());
        } else {
            TensorFile.read(StateFiles.existing(file), wholeOf(weights));
        }
        weights.refresh();
    }

    /** Forgets moments and step count, after the weights were loaded anew. */
    public void reset() {
        stepsTaken = 0;
        skippedInARow = 0;
        viewParameters();
        for (List<NDArray> tensors : List.of(firstMoments, secondMoments, steps)) {
            kernels.run("zero", Mode.INFERENCE, tensors);
        }
    }

    private Map<String, NDArray> named() {
        Map<String, NDArray> tensors = new LinkedHashMap<>();
        int i = 0;
        for (ParameterRange range : ranges) {
            List<String> names = names(range);
            tensors.put(names.get(0), parameters.get(i));
            tensors.put(names.get(1), firstMoments.get(i));
            tensors.put(names.get(2), secondMoments.get(i++));
        }
        return tensors;
    }

    /** All weights, and the moments of this rank. */
    private Map<String, TensorFile.Wanted> wanted() {
        Map<String, TensorFile.Wanted> wanted = wholeOf(weights);
        int i = 0;
        for (ParameterRange range : ranges) {
            List<String> names = names(range);
            wanted.put(names.get(1), wanted(firstMoments.get(i), range));
            wanted.put(names.get(2), wanted(secondMoments.get(i++), range));
        }
        return wanted;
    }

    private static TensorFile.Wanted wanted(NDArray tensor, ParameterRange range) {
        return new TensorFile.Wanted(tensor, range.shape(), range.from(), range.to());
    }

    private static Map<String, TensorFile.Wanted> wholeOf(Weights weights) {
        Map<String, TensorFile.Wanted> wanted = new LinkedHashMap<>();
        weights.parameters().forEach((name, tensor) -> wanted.put(name, TensorFile.Wanted.whole(tensor)));
        return wanted;
    }

    /** The names of a parameter and of its moments. */
    private static List<String> names(ParameterRange range) {
        return List.of(range.name(), range.name() + ".exp_avg", range.name() + ".exp_avg_sq");
    }

    @Override
    public void close() {
        if (own != null) {
            own.close();
        }
        manager.close();
    }
}
