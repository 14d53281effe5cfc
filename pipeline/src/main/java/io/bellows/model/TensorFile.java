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
import java.util.List;
import java.util.Map;

/** Named fp32 tensors in a safetensors file: optimizer state, and weights in full precision. */
public final class TensorFile {

    private static final String RANGE = "range ";

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
            throw new UncheckedIOException(
                    "Cannot write " + file + ": " + e.getMessage()
                            + "; see that there is room and that it may be written, and start again",
                    e);
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
            Slot slot = new Slot(tensor.getKey(), shape);
            TensorMemory.fill(tensor.getValue(), values -> TensorReader.read(source, slot, values));
        }
        return source.metadata();
    }

    /**
     * A tensor to fill with a range of what files hold.
     *
     * @param tensor as many scalars as the range has
     * @param shape the shape of the whole tensor
     * @param from the first scalar, in row-major order
     * @param to one past the last
     */
    public record Wanted(NDArray tensor, Shape shape, long from, long to) {
        /** All of a tensor. */
        public static Wanted whole(NDArray tensor) {
            return new Wanted(tensor, tensor.getShape(), 0, tensor.size());
        }
    }

    /**
     * Returns what the header says of a range, for {@link #write}.
     *
     * @param name the tensor's name
     * @param from the first scalar of the whole tensor that is in the file
     * @param to one past the last
     */
    public static Map.Entry<String, String> rangeNote(String name, long from, long to) {
        return Map.entry(RANGE + name, from + ":" + to);
    }

    /**
     * Fills tensors from files that together hold them, whole or in ranges, each range noted as {@link #rangeNote} has it.
     *
     * @param files what {@link #write} wrote
     * @param wanted by name
     * @return the strings of the first file's header
     * @throws InvalidModelException if a file is damaged, or a scalar is in none
     */
    public static Map<String, String> read(List<Path> files, Map<String, Wanted> wanted) {
        List<SafeTensorsFile> sources =
                files.stream().map(SafeTensorsFile::open).toList();
        wanted.forEach((name, want) -> {
            FloatBuffer values = FloatBuffer.allocate(Math.toIntExact(want.to - want.from));
            long found = 0;
            for (SafeTensorsFile source : sources) {
                if (source.entries().containsKey(name)) {
                    found += copy(source, name, want, values);
                }
            }
            if (found != want.to - want.from) {
                throw new InvalidModelException("Cannot find all of tensor " + name + " of shape " + want.shape
                        + " in " + files + ": " + found + " of the " + (want.to - want.from) + " scalars from "
                        + want.from + " on are there");
            }
            want.tensor.set(values.clear());
        });
        return sources.get(0).metadata();
    }

    /** Copies what a file has of a tensor and is wanted, and returns how many scalars that is. */
    private static long copy(SafeTensorsFile source, String name, Wanted want, FloatBuffer values) {
        String note = source.metadata().get(RANGE + name);
        long start = note == null ? 0 : Long.parseLong(note.substring(0, note.indexOf(':')));
        long end = note == null ? want.shape.size() : Long.parseLong(note.substring(note.indexOf(':') + 1));
        Slot slot = new Slot(name, note == null ? want.shape : new Shape(end - start));
        TensorReader.check(source, slot);
        long from = Math.max(start, want.from);
        long to = Math.min(end, want.to);
        if (from >= to) {
            return 0;
        }
        FloatBuffer stored = FloatBuffer.allocate(slot.elements());
        TensorReader.read(source, slot, stored);
        values.put((int) (from - want.from), stored.array(), (int) (from - start), (int) (to - from));
        return to - from;
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
