package io.bellows.model;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
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

    private static final ObjectMapper JSON = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();
    private static final int LENGTH_BYTES = Long.BYTES;
    private static final long MAX_HEADER = 100L << 20; // the limit of the reference reader

    /** Bytes of an element by type name, as the format lists them. */
    private static final Map<String, Integer> ELEMENT_BYTES = Map.ofEntries(
            Map.entry("BOOL", 1),
            Map.entry("U8", 1),
            Map.entry("I8", 1),
            Map.entry("F8_E5M2", 1),
            Map.entry("F8_E4M3", 1),
            Map.entry("I16", 2),
            Map.entry("U16", 2),
            Map.entry("F16", 2),
            Map.entry("BF16", 2),
            Map.entry("I32", 4),
            Map.entry("U32", 4),
            Map.entry("F32", 4),
            Map.entry("I64", 8),
            Map.entry("U64", 8),
            Map.entry("F64", 8));

    /**
     * One tensor.
     *
     * @param type the type's name in the header, such as {@code BF16}
     * @param shape the dimensions
     * @param begin first byte, counted from {@code dataStart}
     * @param end one past the last byte
     */
    record Entry(String type, long[] shape, long begin, long end) {
        /** Bytes that type and shape need, exact however large. */
        private BigInteger bytes() {
            BigInteger product = BigInteger.valueOf(ELEMENT_BYTES.get(type));
            for (long dimension : shape) {
                product = product.multiply(BigInteger.valueOf(dimension));
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
            JsonNode header = json(path, read(channel, LENGTH_BYTES, (int) headerLength));
            return parse(path, LENGTH_BYTES + headerLength, size, header);
        } catch (NoSuchFileException e) {
            throw new InvalidModelException("Cannot find safetensors file " + path, e);
        } catch (IOException e) {
            throw new InvalidModelException("Cannot read safetensors file " + path + ": " + e, e);
        }
    }

    private static JsonNode json(Path path, ByteBuffer bytes) {
        try {
            JsonNode header = JSON.readTree(UTF_8.newDecoder().decode(bytes).toString());
            if (header.isObject()) {
                return header;
            }
            throw new InvalidModelException(
                    "Invalid safetensors file " + path + ": expected a JSON object as its header");
        } catch (JsonProcessingException e) {
            throw new InvalidModelException(
                    "Invalid safetensors file " + path + ": its header is no JSON (" + e.getOriginalMessage() + ")", e);
        } catch (CharacterCodingException e) {
            throw new InvalidModelException("Invalid safetensors file " + path + ": its header is no UTF-8", e);
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
            } else {
                entries.put(field.getKey(), entry(path, field.getKey(), value));
            }
        }
        checkPlaces(path, entries, size - dataStart);
        return new SafeTensorsFile(
                path, dataStart, Collections.unmodifiableMap(entries), Collections.unmodifiableMap(metadata));
    }

    /** The format wants the tensors end to end over the whole of the data, in any order. */
    private static void checkPlaces(Path path, Map<String, Entry> entries, long size) {
        List<Map.Entry<String, Entry>> inOrder = entries.entrySet().stream()
                .sorted(Comparator.comparingLong((Map.Entry<String, Entry> e) -> e.getValue().begin)
                        .thenComparingLong(e -> e.getValue().end))
                .toList();
        long position = 0;
        for (Map.Entry<String, Entry> tensor : inOrder) {
            Entry entry = tensor.getValue();
            if (entry.begin < 0 || entry.end < entry.begin || entry.end > size) {
                throw invalid(
                        path,
                        tensor.getKey(),
                        "it lies at bytes " + entry.begin + " to " + entry.end + " of " + size
                                + ". Was the file cut short?");
            }
            if (entry.begin != position) {
                throw invalid(
                        path,
                        tensor.getKey(),
                        "expected it to begin at byte " + position + ", where the tensor before it ends, found "
                                + entry.begin);
            }
            if (!entry.bytes().equals(BigInteger.valueOf(entry.end - entry.begin))) {
                throw invalid(
                        path,
                        tensor.getKey(),
                        "shape " + Arrays.toString(entry.shape) + " of " + entry.type + " needs " + entry.bytes()
                                + " bytes, data_offsets give it " + (entry.end - entry.begin));
            }
            position = entry.end;
        }
        if (position != size) {
            throw new InvalidModelException(
                    "Invalid safetensors file " + path + ": its tensors end at byte " + position + " of " + size);
        }
    }

    private static Entry entry(Path path, String name, JsonNode value) {
        JsonNode offsets = value.path("data_offsets");
        JsonNode shape = value.path("shape");
        if (!value.path("dtype").isTextual() || !shape.isArray() || offsets.size() != 2) {
            throw invalid(path, name, "its header entry needs dtype, shape and data_offsets, found " + value);
        }
        String type = value.path("dtype").asText();
        if (!ELEMENT_BYTES.containsKey(type)) {
            throw invalid(path, name, "unsupported dtype '" + type + "'");
        }
        long[] dimensions = new long[shape.size()];
        for (int i = 0; i < dimensions.length; i++) {
            dimensions[i] = wholeNumber(path, name, shape, i);
        }
        return new Entry(type, dimensions, wholeNumber(path, name, offsets, 0), wholeNumber(path, name, offsets, 1));
    }

    private static long wholeNumber(Path path, String name, JsonNode numbers, int index) {
        JsonNode number = numbers.path(index);
        if (!number.isIntegralNumber() || !number.canConvertToLong() || number.asLong() < 0) {
            throw invalid(path, name, "expected whole numbers in its shape and data_offsets, found " + numbers);
        }
        return number.asLong();
    }

    private static InvalidModelException invalid(Path path, String tensor, String reason) {
        return new InvalidModelException("Invalid safetensors file " + path + ": tensor " + tensor + ": " + reason);
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
            throw new InvalidModelException("Unsupported tensor " + name + " in " + path + ": it has " + length
                    + " bytes, supported are at most 2 GiB; save the model with a tensor for each matrix");
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
