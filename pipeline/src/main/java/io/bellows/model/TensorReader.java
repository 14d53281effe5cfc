package io.bellows.model;

import ai.djl.ndarray.types.Shape;
import io.bellows.model.ParameterLayout.Slot;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.Arrays;

/** Reads one parameter from a safetensors file and checks it. */
final class TensorReader {

    private TensorReader() {}

    /**
     * Fills {@code target} with the tensor's values as fp32.
     *
     * @throws InvalidModelException if type or shape differ from what the decoder needs, or a value is not finite
     */
    static void read(SafeTensorsFile file, Slot slot, FloatBuffer target) {
        SafeTensorsFile.Entry entry = file.entries().get(slot.name());
        StorageType type = type(file, slot.name(), entry);
        Shape found = new Shape(entry.shape());
        if (!found.equals(slot.shape())) {
            throw new InvalidModelException("Invalid tensor " + slot.name() + " in " + file.path()
                    + ": expected the shape " + slot.shape() + " from config.json, found " + found);
        }
        ByteBuffer bytes = file.map(slot.name());
        if (bytes.remaining() != entry.elements() * type.bytes()) {
            throw new InvalidModelException("Invalid tensor " + slot.name() + " in " + file.path() + ": " + found + " "
                    + type + " needs " + entry.elements() * type.bytes() + " bytes, the file has " + bytes.remaining());
        }
        int start = target.position();
        type.read(bytes, target);
        for (int i = start; i < target.position(); i++) {
            if (!Float.isFinite(target.get(i))) {
                throw new InvalidModelException("Invalid tensor " + slot.name() + " in " + file.path() + ": element "
                        + (i - start) + " is " + target.get(i) + ", expected a finite number");
            }
        }
    }

    static StorageType type(SafeTensorsFile file, String name, SafeTensorsFile.Entry entry) {
        return Arrays.stream(StorageType.values())
                .filter(type -> type.name().equals(entry.type()))
                .findFirst()
                .orElseThrow(() -> new InvalidModelException("Unsupported type " + entry.type() + " of tensor " + name
                        + " in " + file.path() + ": supported are " + Arrays.toString(StorageType.values())));
    }
}
