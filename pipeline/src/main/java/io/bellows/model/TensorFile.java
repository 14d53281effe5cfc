package io.bellows.model;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import io.bellows.model.ParameterLayout.Slot;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;

/** Named fp32 tensors in a safetensors file: optimizer state, and weights in full precision. */
public final class TensorFile {

    private TensorFile() {}

    /**
     * Writes tensors in fp32 and forces them to disk.
     *
     * @param file the file
     * @param tensors by name, in the order to write
     * @param metadata strings for the header
     * @throws UncheckedIOException if the file cannot be written
     */
    public static void write(Path file, Map<String, NDArray> tensors, Map<String, String> metadata) {
        write(file, tensors, metadata, StorageType.F32);
    }

    static void write(Path file, Map<String, NDArray> tensors, Map<String, String> metadata, StorageType type) {
        Map<String, SafeTensorsFile.Entry> entries = new LinkedHashMap<>();
        long position = 0;
        for (Map.Entry<String, NDArray> tensor : tensors.entrySet()) {
            long end = position + tensor.getValue().size() * type.bytes();
            long[] shape = tensor.getValue().getShape().getShape();
            entries.put(tensor.getKey(), new SafeTensorsFile.Entry(type.name(), shape, position, end));
            position = end;
        }
        try (FileChannel channel = open(file)) {
            writeFully(channel, SafeTensorsFile.header(entries, metadata));
            for (NDArray tensor : tensors.values()) {
                writeFully(channel, convert(Weights.values(tensor), type));
            }
            channel.force(true);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot write " + file + ": " + e.getMessage(), e);
        }
    }

    /**
     * Fills tensors from a file.
     *
     * @param file what {@link #write} wrote
     * @param tensors by name; all must be in the file with the same shape
     * @return the header's strings
     * @throws InvalidModelException if the file is damaged or does not fit the tensors
     */
    public static Map<String, String> read(Path file, Map<String, NDArray> tensors) {
        SafeTensorsFile source = SafeTensorsFile.open(file);
        for (Map.Entry<String, NDArray> tensor : tensors.entrySet()) {
            Shape shape = tensor.getValue().getShape();
            if (!source.entries().containsKey(tensor.getKey())) {
                throw new InvalidModelException(
                        "Cannot find tensor " + tensor.getKey() + " of shape " + shape + " in " + file);
            }
            FloatBuffer values = FloatBuffer.allocate(Math.toIntExact(shape.size()));
            TensorReader.read(source, new Slot(tensor.getKey(), shape), values);
            tensor.getValue().set(values.flip());
        }
        return source.metadata();
    }

    static ByteBuffer convert(FloatBuffer values, StorageType type) {
        ByteBuffer bytes = ByteBuffer.allocate(Math.multiplyExact(values.remaining(), type.bytes()))
                .order(ByteOrder.LITTLE_ENDIAN);
        type.write(values, bytes);
        return bytes.flip();
    }

    static FileChannel open(Path file) throws IOException {
        return FileChannel.open(
                file, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE);
    }

    static void writeFully(FileChannel channel, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }
}
