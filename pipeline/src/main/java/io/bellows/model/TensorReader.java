package io.bellows.model;

import ai.djl.ndarray.types.Shape;
import io.bellows.model.ParameterLayout.Slot;
import java.nio.FloatBuffer;
import java.util.Arrays;

/** Reads one parameter from a safetensors file and checks it. */
final class TensorReader {

    private TensorReader() {}

    /**
     * Checks what the header says of a tensor that the file has.
     *
     * @throws InvalidModelException if type or shape differ from what the decoder needs, or it is too large
     */
    static void check(SafeTensorsFile file, Slot slot) {
        SafeTensorsFile.Entry entry = file.entries().get(slot.name());
        type(file, slot.name());
        Shape found = new Shape(entry.shape());
        if (!found.equals(slot.shape())) {
            throw new InvalidModelException("Invalid tensor " + slot.name() + " in " + file.path()
                    + ": expected the shape " + slot.shape() + " from config.json, found " + found);
        }
        slot.elements();
    }

    /**
     * Fills {@code target} with the tensor's values as fp32.
     *
     * @throws InvalidModelException if type or shape differ from what the decoder needs, or a value is not finite
     */
    static void read(SafeTensorsFile file, Slot slot, FloatBuffer target) {
        check(file, slot);
        int start = target.position();
        type(file, slot.name()).read(file.map(slot.name()), target);
        for (int i = start; i < target.position(); i++) {
            if (!Float.isFinite(target.get(i))) {
                throw new InvalidModelException("Invalid tensor " + slot.name() + " in " + file.path() + ": element "
                        + (i - start) + " is " + target.get(i) + ", expected a finite number");
            }
        }
    }

    static StorageType type(SafeTensorsFile file, String name) {
        String type = file.entries().get(name).type();
        return Arrays.stream(StorageType.values())
                .filter(known -> known.name().equals(type))
                .findFirst()
                .orElseThrow(() -> new InvalidModelException("Unsupported type " + type + " of tensor " + name + " in "
                        + file.path() + ": supported are " + Arrays.toString(StorageType.values())));
    }
}
