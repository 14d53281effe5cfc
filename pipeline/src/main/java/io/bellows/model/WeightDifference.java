package io.bellows.model;

import ai.djl.ndarray.types.Shape;
import io.bellows.model.ParameterLayout.Slot;
import java.nio.FloatBuffer;
import java.nio.file.Path;

/** How far the weights of two model folders are apart. */
public final class WeightDifference {

    private WeightDifference() {}

    /**
     * Compares the safetensors of two folders, one tensor at a time.
     *
     * @param folder a model folder
     * @param other a folder with tensors of the same names and shapes
     * @return the largest absolute difference between two values in the same place
     * @throws InvalidModelException if a tensor is damaged, or the other folder lacks it or has it in another shape
     */
    public static double largest(Path folder, Path other) {
        TensorFiles files = TensorFiles.open(folder);
        TensorFiles others = TensorFiles.open(other);
        double largest = 0;
        for (var entry : files.byTensor().entrySet()) {
            Slot slot = new Slot(
                    entry.getKey(),
                    new Shape(entry.getValue().entries().get(entry.getKey()).shape()));
            largest = Math.max(largest, largest(read(files, slot), read(others, slot)));
        }
        return largest;
    }

    private static FloatBuffer read(TensorFiles files, Slot slot) {
        FloatBuffer values = FloatBuffer.allocate(slot.elements());
        files.read(slot, values);
        return values.flip();
    }

    private static double largest(FloatBuffer values, FloatBuffer others) {
        double largest = 0;
        for (int i = 0; i < values.limit(); i++) {
            largest = Math.max(largest, Math.abs((double) values.get(i) - others.get(i)));
        }
        return largest;
    }
}
