package io.bellows.model;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.pytorch.engine.PtNDArray;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.List;
import java.util.function.Consumer;

/** The memory of tensors, for whatever reads and writes it as bytes: their own on the CPU, a copy of it elsewhere. */
public final class TensorMemory {

    private final List<NDArray> tensors;
    private final boolean shared;
    private List<ByteBuffer> buffers;

    private TensorMemory(List<NDArray> tensors, boolean shared) {
        this.tensors = tensors;
        this.shared = shared;
    }

    /**
     * Describes the memory of some tensors.
     *
     * @param tensors fp32, contiguous, all on one device; they must outlive this object
     * @return their memory
     */
    public static TensorMemory of(List<NDArray> tensors) {
        boolean cpu = tensors.stream().allMatch(tensor -> tensor.getDevice().equals(Device.cpu()));
        return new TensorMemory(List.copyOf(tensors), cpu);
    }

    /**
     * Lets {@code filler} write a tensor's values, on the CPU into the tensor itself: a copy on the way would cost its size in the Java
     * heap and again beside it.
     */
    static void fill(NDArray tensor, Consumer<FloatBuffer> filler) {
        TensorMemory memory = of(List.of(tensor));
        filler.accept(memory.read().get(0).asFloatBuffer());
        memory.write();
    }

    /**
     * Returns the values as they are now.
     *
     * @return a direct buffer of little-endian floats for each tensor
     */
    public List<ByteBuffer> read() {
        if (buffers == null || !shared) {
            buffers = tensors.stream()
                    .map(tensor -> ((PtNDArray) tensor).toByteBuffer(true))
                    .toList();
        }
        return buffers;
    }

    /** Makes what was written into the buffers of {@link #read} the values of the tensors. */
    public void write() {
        for (int i = 0; !shared && i < tensors.size(); i++) {
            tensors.get(i).set(buffers.get(i).duplicate().order(java.nio.ByteOrder.LITTLE_ENDIAN));
        }
    }
}
