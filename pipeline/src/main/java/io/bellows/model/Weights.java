package io.bellows.model;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.engine.PtNDManager;
import ai.djl.pytorch.jni.IValue;
import ai.djl.pytorch.jni.ScriptBridge;
import io.bellows.model.ParameterLayout.Slot;
import java.nio.FloatBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * A decoder's parameters as fp32 tensors.
 *
 * <p>They are always copied into memory that libtorch allocated: results of its kernels can depend on alignment, and a
 * resumed run must compute what an unbroken one computed.
 */
public final class Weights implements AutoCloseable {

    private final ModelConfig config;
    private final PtNDManager manager;
    private final Map<String, NDArray> parameters;
    private final List<NDArray> slots;
    private final IValue list;

    private Weights(ModelConfig config, PtNDManager manager, Map<String, NDArray> parameters, List<NDArray> slots) {
        this.config = config;
        this.manager = manager;
        this.parameters = parameters;
        this.slots = slots;
        this.list = ScriptBridge.listOf(slots);
    }

    /**
     * Loads the weights of a Hugging Face folder.
     *
     * @param kernels where they will be used
     * @param folder a folder with {@code config.json} and safetensors, single or sharded
     * @return the weights, to be closed by the caller
     * @throws InvalidModelException if a file or tensor is missing, damaged or of another shape, or a weight is not finite
     */
    public static Weights load(Kernels kernels, Path folder) {
        ModelConfig config = ModelConfig.read(folder);
        return load(kernels, config, ModelFolder.tensors(folder));
    }

    /**
     * Loads weights from files that hold them under their Hugging Face names.
     *
     * @param kernels where they will be used
     * @param config the decoder's shape
     * @param tensors the file of each tensor
     * @throws InvalidModelException if a tensor is missing or of another shape, or a weight is not finite
     */
    static Weights load(Kernels kernels, ModelConfig config, Map<String, SafeTensorsFile> tensors) {
        return build(kernels, config, (slot, target) -> read(tensors, slot, target));
    }

    /**
     * Initialises weights as Hugging Face does: matrices from a normal distribution, norms 1, biases 0.
     *
     * @param kernels where they will be used
     * @param config the decoder's shape
     * @param seed the seed; the same seed gives the same weights
     * @return the weights, to be closed by the caller
     */
    public static Weights random(Kernels kernels, ModelConfig config, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        return build(kernels, config, (slot, target) -> {
            boolean matrix = slot.isMatrix();
            float constant = slot.isNorm() ? 1f : 0f;
            while (target.hasRemaining()) {
                target.put(matrix ? (float) (random.nextGaussian() * config.initializerRange()) : constant);
            }
        });
    }

    /**
     * Replaces the values by those of a folder; the tensors stay the same, so whoever holds them sees the new values.
     *
     * @param folder a folder with a model of the same shape
     * @throws InvalidModelException if a tensor is missing, damaged or of another shape
     */
    public void reload(Path folder) {
        Map<String, SafeTensorsFile> tensors = ModelFolder.tensors(folder);
        parameters.forEach((name, tensor) -> {
            FloatBuffer values = FloatBuffer.allocate(Math.toIntExact(tensor.size()));
            read(tensors, new Slot(name, tensor.getShape()), values);
            tensor.set(values.flip());
        });
    }

    private static void read(Map<String, SafeTensorsFile> tensors, Slot slot, FloatBuffer target) {
        SafeTensorsFile file = tensors.get(slot.name());
        if (file == null) {
            throw new InvalidModelException("Cannot find tensor " + slot.name() + " of shape " + slot.shape() + " in "
                    + ModelFolder.describe(tensors));
        }
        TensorReader.read(file, slot, target);
    }

    /** Fills one parameter. */
    private interface Filler {
        void fill(Slot slot, FloatBuffer target);
    }

    private static Weights build(Kernels kernels, ModelConfig config, Filler filler) {
        PtNDManager manager = kernels.newManager();
        try {
            Map<String, NDArray> parameters = new LinkedHashMap<>();
            List<NDArray> slots = new ArrayList<>();
            NDArray absent = manager.create(new Shape(0), DataType.FLOAT32);
            for (Slot slot : ParameterLayout.of(config).slots()) {
                slots.add(
                        slot.isAbsent()
                                ? absent
                                : parameters.computeIfAbsent(slot.name(), name -> filled(manager, slot, filler)));
            }
            return new Weights(config, manager, parameters, List.copyOf(slots));
        } catch (RuntimeException e) {
            manager.close();
            throw e;
        }
    }

    private static NDArray filled(PtNDManager manager, Slot slot, Filler filler) {
        FloatBuffer values = FloatBuffer.allocate(
                Math.toIntExact(slot.shape().size())); // heap: filled at once, then copied by libtorch
        filler.fill(slot, values);
        NDArray tensor = manager.create(slot.shape(), DataType.FLOAT32);
        tensor.set(values.flip());
        return tensor;
    }

    /**
     * Returns the decoder's shape.
     *
     * @return the configuration
     */
    public ModelConfig config() {
        return config;
    }

    /**
     * Returns the parameters, each once, by their Hugging Face names, in the order of the decoder.
     *
     * @return an unmodifiable view
     */
    public Map<String, NDArray> parameters() {
        return java.util.Collections.unmodifiableMap(parameters);
    }

    /**
     * Returns the number of scalars in all parameters.
     *
     * @return the count
     */
    public long parameterCount() {
        return parameters.values().stream().mapToLong(NDArray::size).sum();
    }

    /**
     * Returns the weights as the decoder source takes them.
     *
     * @return the list, which stays this object's
     */
    public IValue list() {
        return list;
    }

    /** The tensor of the output head, which is the embedding when tied. */
    NDArray head() {
        return slots.get(2);
    }

    /**
     * Reads a parameter.
     *
     * @param tensor one of {@link #parameters()}
     * @return its values in row-major order, a copy
     */
    static FloatBuffer values(NDArray tensor) {
        return ((PtNDArray) tensor).toByteBuffer(false).asFloatBuffer();
    }

    @Override
    public void close() {
        list.close();
        manager.close();
    }
}
