package io.bellows.model;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.engine.PtNDManager;
import ai.djl.pytorch.jni.IValue;
import ai.djl.pytorch.jni.ScriptBridge;
import ai.djl.pytorch.jni.ScriptBridge.Mode;
import io.bellows.model.ParameterLayout.Slot;
import java.nio.FloatBuffer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * A decoder's parameters as fp32 tensors, with copies in bfloat16 where it computes in that.
 *
 * <p>They are always copied into memory that libtorch allocated: results of its kernels can depend on alignment, and a
 * resumed run must compute what an unbroken one computed.
 */
public final class Weights implements AutoCloseable {

    private final Kernels kernels;
    private final ModelConfig config;
    private final ParameterLayout layout;
    private final ComputeType type;
    private final PtNDManager manager;
    private final Map<String, NDArray> parameters;
    private final List<NDArray> masters;
    private final List<NDArray> copies;
    private final IValue masterList;
    private final IValue list;
    private final NDArray head;

    private Weights(
            Kernels kernels,
            ModelConfig config,
            ParameterLayout layout,
            ComputeType type,
            PtNDManager manager,
            Map<String, NDArray> parameters,
            NDArray absent) {
        this.kernels = kernels;
        this.config = config;
        this.layout = layout;
        this.type = type;
        this.manager = manager;
        this.parameters = parameters;
        this.masters = List.copyOf(parameters.values());
        this.copies = type == ComputeType.FLOAT32
                ? masters
                : kernels.tensors(manager, "cast", Mode.ORDINARY, masters, type.code());
        this.masterList = ScriptBridge.listOf(slots(masters, absent));
        this.list = type == ComputeType.FLOAT32 ? masterList : ScriptBridge.listOf(slots(copies, absent));
        this.head = slots(copies, absent).get(ParameterLayout.HEAD);
    }

    /** The tensors in the order that the decoder source expects; a tied head is the embedding. */
    private List<NDArray> slots(List<NDArray> tensors, NDArray absent) {
        Map<String, NDArray> byName = new HashMap<>();
        int i = 0;
        for (String name : parameters.keySet()) {
            byName.put(name, tensors.get(i++));
        }
        return layout.slots().stream()
                .map(slot -> slot.isAbsent() ? absent : byName.get(slot.name()))
                .toList();
    }

    /**
     * Loads the weights of a Hugging Face folder, to compute in fp32.
     *
     * @param kernels where they will be used
     * @param folder a folder with {@code config.json} and safetensors, single or sharded
     * @return the weights, to be closed by the caller
     * @throws InvalidModelException if a file or tensor is missing, damaged or of another shape, or a weight is not finite
     */
    public static Weights load(Kernels kernels, Path folder) {
        return load(kernels, folder, Head.TOKENS, ComputeType.FLOAT32);
    }

    /**
     * Loads the weights of a Hugging Face folder.
     *
     * @param kernels where they will be used
     * @param folder a folder with {@code config.json} and safetensors, single or sharded
     * @param head what the decoder is to give; a value head that the folder lacks is zeros, a head for scores it must have
     * @param type what to compute in
     * @return the weights, to be closed by the caller
     * @throws InvalidModelException if a file or tensor is missing, damaged or of another shape, or a weight is not finite
     */
    public static Weights load(Kernels kernels, Path folder, Head head, ComputeType type) {
        ModelConfig config = ModelConfig.read(folder);
        ParameterLayout layout = ParameterLayout.of(config, head);
        return build(kernels, config, layout, type, checked(folder, layout, head)::read);
    }

    /**
     * Checks that a folder has what {@link #load(Kernels, Path, Head, ComputeType)} will read, by the headers of its files.
     *
     * @param folder a folder with {@code config.json} and safetensors, single or sharded
     * @param head what the decoder is to give
     * @throws InvalidModelException if a file or tensor is missing or of another shape
     */
    public static void check(Path folder, Head head) {
        checked(folder, ParameterLayout.of(ModelConfig.read(folder), head), head);
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
        ParameterLayout layout = ParameterLayout.of(config, Head.TOKENS);
        return build(kernels, config, layout, ComputeType.FLOAT32, (slot, target) -> {
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
        TensorFiles files = checked(folder, layout);
        parameters.forEach((name, tensor) -> {
            TensorMemory.fill(tensor, values -> files.read(new Slot(name, tensor.getShape()), values));
        });
        refresh();
    }

    private static TensorFiles checked(Path folder, ParameterLayout layout, Head head) {
        TensorFiles files = checked(folder, layout);
        if (head == Head.SCORE) {
            files.requireScoreHead(folder);
        }
        return files;
    }

    private static TensorFiles checked(Path folder, ParameterLayout layout) {
        TensorFiles files = TensorFiles.open(folder);
        files.check(layout);
        return files;
    }

    /** Takes changes of {@link #parameters()} over into the copies that the decoder computes with. */
    public void refresh() {
        if (type != ComputeType.FLOAT32) {
            try (GradientMode off = GradientMode.off()) {
                kernels.run("copy", Mode.ORDINARY, copies, masters);
            }
        }
    }

    /** Fills one parameter. */
    private interface Filler {
        void fill(Slot slot, FloatBuffer target);
    }

    private static Weights build(
            Kernels kernels, ModelConfig config, ParameterLayout layout, ComputeType type, Filler filler) {
        PtNDManager manager = kernels.newManager();
        try (GradientMode off = GradientMode.off()) {
            Map<String, NDArray> parameters = new LinkedHashMap<>();
            for (Slot slot : layout.slots()) {
                if (!slot.isAbsent()) {
                    parameters.computeIfAbsent(slot.name(), name -> filled(manager, slot, filler));
                }
            }
            NDArray absent = manager.create(new Shape(0), DataType.FLOAT32);
            return new Weights(kernels, config, layout, type, manager, parameters, absent);
        } catch (RuntimeException e) {
            manager.close();
            throw e;
        }
    }

    private static NDArray filled(PtNDManager manager, Slot slot, Filler filler) {
        slot.elements(); // refuses what no buffer holds
        NDArray tensor = manager.zeros(slot.shape(), DataType.FLOAT32);
        TensorMemory.fill(tensor, values -> filler.fill(slot, values));
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
     * Returns the weights as the decoder source takes them, in the type that it computes in.
     *
     * @return the list, which stays this object's
     */
    public IValue list() {
        return list;
    }

    /** The same in fp32: what gradients flow to. */
    IValue masterList() {
        return masterList;
    }

    /** The type that the decoder computes in. */
    ComputeType type() {
        return type;
    }

    /** The output head as {@link #list()} has it, which is the embedding when tied. */
    NDArray head() {
        return head;
    }

    /** The output head's parameter. */
    NDArray masterHead() {
        return parameters.get(layout.slots().get(ParameterLayout.HEAD).name());
    }

    /** The bias of a value head. */
    NDArray valueBias() {
        return parameters.get(ParameterLayout.VALUE_BIAS);
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
        masterList.close();
        manager.close();
    }
}
