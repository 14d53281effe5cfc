package io.bellows.model;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A safetensors file: eight bytes of header length, a JSON header, then the tensors' bytes.
 *
 * @param path the file
 * @param dataStart position of the first tensor byte
 * @param entries tensors by name, in file order
 * @param metadata the header's {@code __metadata__}
 * @see <a href="https://github.com/huggingface/safetensors#format">the format</a>
 */
record SafeTensorsFile(Path path, long dataStart, Map<String, Entry> entries, Map<String, String> metadata) {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int LENGTH_BYTES = Long.BYTES;
    private static final long MAX_HEADER = 100L << 20; // the limit of the reference reader

    /**
     * One tensor.
     *
     * @param type the type's name in the header, such as {@code BF16}
     * @param shape the dimensions
     * @param begin first byte, counted from {@code dataStart}
     * @param end one past the last byte
     */
    record Entry(String type, long[] shape, long begin, long end) {
        long elements() {
            long product = 1;
            for (long dimension : shape) {
                product = Math.multiplyExact(product, dimension);
            }
            return product;
        }
    }

    /**
     * Reads the header.
     *
     * @throws InvalidModelException if the file is missing, cut short or no safetensors file
     */
    static SafeTensorsFile open(Path path) {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            long size = channel.size();
            long headerLength =
                    size < LENGTH_BYTES ? -1 : read(channel, 0, LENGTH_BYTES).getLong();
            if (headerLength < 2 || headerLength > MAX_HEADER || LENGTH_BYTES + headerLength > size) {
                throw new InvalidModelException("Invalid safetensors file " + path + ": its " + size
                        + " bytes cannot hold the stated header of " + headerLength
                        + " bytes. Was it cut short or is it a pointer file?");
            }
            String header = UTF_8.decode(read(channel, LENGTH_BYTES, (int) headerLength))
                    .toString();
            return parse(path, LENGTH_BYTES + headerLength, size, JSON.readTree(header));
        } catch (IOException e) {
            throw new InvalidModelException("Cannot read safetensors file " + path + ": " + e.getMessage(), e);
        }
    }

    private static SafeTensorsFile parse(Path path, long dataStart, long size, JsonNode header) {
        Map<String, Entry> entries = new LinkedHashMap<>();
        Map<String, String> metadata = new LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> field : header.properties()) {
            JsonNode value = field.getValue();
            if (field.getKey().equals("__metadata__")) {
                value.properties()
                        .forEach(e -> metadata.put(e.getKey(), e.getValue().asText()));
                continue;
            }
            Entry entry = entry(path, field.getKey(), value);
            if (entry.begin < 0 || entry.end < entry.begin || entry.end > size - dataStart) {
                throw new InvalidModelException("Invalid safetensors file " + path + ": tensor " + field.getKey()
                        + " lies at bytes " + entry.begin + " to " + entry.end + " of " + (size - dataStart)
                        + ". Was the file cut short?");
            }
            entries.put(field.getKey(), entry);
        }
        return new SafeTensorsFile(
                path, dataStart, Collections.unmodifiableMap(entries), Collections.unmodifiableMap(metadata));
    }

    private static Entry entry(Path path, String name, JsonNode value) {
        JsonNode offsets = value.path("data_offsets");
        JsonNode shape = value.path("shape");
        if (!value.path("dtype").isTextual() || !shape.isArray() || offsets.size() != 2) {
            throw new InvalidModelException("Invalid safetensors file " + path + ": the header entry of tensor " + name
                    + " needs dtype, shape and data_offsets, found " + value);
        }
        long[] dimensions = new long[shape.size()];
        for (int i = 0; i < dimensions.length; i++) {
            dimensions[i] = shape.get(i).asLong(-1);
            if (dimensions[i] < 0) {
                throw new InvalidModelException(
                        "Invalid safetensors file " + path + ": tensor " + name + " has the shape " + shape);
            }
        }
        return new Entry(
                value.path("dtype").asText(),
                dimensions,
                offsets.get(0).asLong(-1),
                offsets.get(1).asLong(-1));
    }

    /**
     * Maps one tensor's bytes, little-endian.
     *
     * @throws InvalidModelException if there is no such tensor or it exceeds 2 GiB
     */
    ByteBuffer map(String name) {
        Entry entry = entries.get(name);
        if (entry == null) {
            throw new InvalidModelException("Cannot find tensor " + name + " in " + path);
        }
        long length = entry.end - entry.begin;
        if (length > Integer.MAX_VALUE) {
            throw new InvalidModelException(
                    "Unsupported tensor " + name + " in " + path + ": " + length + " bytes are more than 2 GiB");
        }
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            return channel.map(FileChannel.MapMode.READ_ONLY, dataStart + entry.begin, length)
                    .order(ByteOrder.LITTLE_ENDIAN);
        } catch (IOException e) {
            throw new InvalidModelException("Cannot map tensor " + name + " of " + path + ": " + e.getMessage(), e);
        }
    }

    /**
     * Returns the header of a file that holds the same tensors, laid end to end in the same order.
     *
     * @param entries the tensors with their types, shapes and places
     */
    static ByteBuffer header(Map<String, Entry> entries, Map<String, String> metadata) throws IOException {
        ObjectNode header = JSON.createObjectNode();
        ObjectNode info = header.putObject("__metadata__");
        metadata.forEach(info::put);
        info.put("format", "pt");
        entries.forEach((name, entry) -> {
            ObjectNode node = header.putObject(name).put("dtype", entry.type);
            var shape = node.putArray("shape");
            for (long dimension : entry.shape) {
                shape.add(dimension);
            }
            node.putArray("data_offsets").add(entry.begin).add(entry.end);
        });
        byte[] json = JSON.writeValueAsBytes(header);
        int padded = (json.length + 7) / 8 * 8; // readers map the data, so it starts aligned
        ByteBuffer bytes = ByteBuffer.allocate(LENGTH_BYTES + padded).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(padded).put(json);
        while (bytes.hasRemaining()) {
            bytes.put((byte) ' ');
        }
        return bytes.flip();
    }

    private static ByteBuffer read(FileChannel channel, long at, int length) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        while (buffer.hasRemaining()) {
            if (channel.read(buffer, at + buffer.position()) < 0) {
                throw new IOException("end of file");
            }
        }
        return buffer.flip();
    }
}
