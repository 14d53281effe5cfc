package io.bellows.model;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A safetensors file taken apart and put together again, independently of the code under test. */
final class TensorBytes {

    static final ObjectMapper JSON = new ObjectMapper();

    final ObjectNode header;
    final byte[] data;
    final int headerLength;

    private TensorBytes(ObjectNode header, byte[] data, int headerLength) {
        this.header = header;
        this.data = data;
        this.headerLength = headerLength;
    }

    static TensorBytes read(Path file) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        int length = (int) ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong();
        ObjectNode header = (ObjectNode) JSON.readTree(new String(bytes, 8, length, UTF_8));
        return new TensorBytes(header, Arrays.copyOfRange(bytes, 8 + length, bytes.length), length);
    }

    void write(Path file) throws IOException {
        write(file, JSON.writeValueAsBytes(header), data);
    }

    static void write(Path file, byte[] header, byte[] data) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(8 + header.length + data.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(header.length).put(header).put(data);
        Files.write(file, bytes.array());
    }

    List<String> names() {
        List<String> names = new ArrayList<>();
        header.fieldNames().forEachRemaining(names::add);
        names.remove("__metadata__");
        return names;
    }

    ObjectNode tensor(String name) {
        return (ObjectNode) header.path(name);
    }

    int begin(String name) {
        return offset(name, 0);
    }

    int end(String name) {
        return offset(name, 1);
    }

    private int offset(String name, int which) {
        return tensor(name).path("data_offsets").get(which).asInt();
    }

    void move(String name, long begin, long end) {
        tensor(name).putArray("data_offsets").add(begin).add(end);
    }

    /** A file with some of the tensors, laid end to end in the order given. */
    TensorBytes only(List<String> names) throws IOException {
        ObjectNode kept = JSON.createObjectNode();
        kept.set("__metadata__", header.path("__metadata__"));
        ByteBuffer bytes = ByteBuffer.allocate(data.length);
        for (String name : names) {
            int start = bytes.position();
            bytes.put(data, begin(name), end(name) - begin(name));
            kept.set(name, tensor(name).deepCopy());
            ((ObjectNode) kept.path(name)).putArray("data_offsets").add(start).add(bytes.position());
        }
        return new TensorBytes(kept, Arrays.copyOf(bytes.array(), bytes.position()), 0);
    }

    /** Splits the single file of a folder into two shards with an index. */
    static void shard(Path folder) throws IOException {
        Path single = folder.resolve("model.safetensors");
        TensorBytes all = read(single);
        ObjectNode index = JSON.createObjectNode();
        index.putObject("metadata").put("total_size", all.data.length);
        ObjectNode map = index.putObject("weight_map");
        int half = all.names().size() / 2;
        for (int i = 0; i < 2; i++) {
            String shard = "model-0000" + (i + 1) + "-of-00002.safetensors";
            List<String> names = i == 0
                    ? all.names().subList(0, half)
                    : all.names().subList(half, all.names().size());
            all.only(names).write(folder.resolve(shard));
            names.forEach(name -> map.put(name, shard));
        }
        JSON.writeValue(folder.resolve("model.safetensors.index.json").toFile(), index);
        Files.delete(single);
    }

    static void copy(Path source, Path target) throws IOException {
        try (var files = Files.list(source)) {
            for (Path file : files.toList()) {
                Files.copy(file, target.resolve(file.getFileName()));
            }
        }
    }

    static JsonNode json(Path file) throws IOException {
        return JSON.readTree(file.toFile());
    }
}
