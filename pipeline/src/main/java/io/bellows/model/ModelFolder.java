package io.bellows.model;

import ai.djl.ndarray.NDArray;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A model folder in Hugging Face layout: {@code config.json}, tokenizer files and one or more safetensors files. */
public final class ModelFolder {

    private static final String SINGLE = "model.safetensors";
    private static final String INDEX = "model.safetensors.index.json";
    private static final ObjectMapper JSON = new ObjectMapper();

    private ModelFolder() {}

    /** The file of each tensor. */
    static Map<String, SafeTensorsFile> tensors(Path folder) {
        Map<String, SafeTensorsFile> tensors = new LinkedHashMap<>();
        for (SafeTensorsFile file : files(folder)) {
            file.entries().keySet().forEach(name -> tensors.put(name, file));
        }
        return tensors;
    }

    static String describe(Map<String, SafeTensorsFile> tensors) {
        TreeSet<Path> paths =
                tensors.values().stream().map(SafeTensorsFile::path).collect(Collectors.toCollection(TreeSet::new));
        return paths + ", which hold " + tensors.size() + " tensors";
    }

    private static List<SafeTensorsFile> files(Path folder) {
        Path index = folder.resolve(INDEX);
        if (!Files.exists(index)) {
            return List.of(SafeTensorsFile.open(folder.resolve(SINGLE)));
        }
        try {
            TreeMap<String, Path> shards = new TreeMap<>();
            for (JsonNode name : JSON.readTree(Files.readString(index)).path("weight_map")) {
                shards.put(name.asText(), inside(folder, name.asText()));
            }
            if (shards.isEmpty()) {
                throw new InvalidModelException("Invalid index " + index + ": weight_map names no file");
            }
            return shards.values().stream().map(SafeTensorsFile::open).toList();
        } catch (IOException e) {
            throw new InvalidModelException("Cannot read index " + index + ": " + e.getMessage(), e);
        }
    }

    /** An index is input from outside: its names must not lead out of the folder. */
    private static Path inside(Path folder, String name) {
        Path path = folder.resolve(name).normalize();
        if (!folder.normalize().equals(path.getParent())) {
            throw new InvalidModelException("Invalid file name '" + name + "' in " + folder.resolve(INDEX)
                    + ": expected the name of a file in the same folder");
        }
        return path;
    }

    /**
     * Saves weights as a folder with the same files, tensor names, types and shapes as the folder they came from.
     *
     * @param source the folder to take everything but the values from; not changed
     * @param target a folder, created if need be
     * @param weights the values; tensors of the source that the decoder does not use are copied as they are
     * @throws UncheckedIOException if a file cannot be read or written
     */
    public static void save(Path source, Path target, Weights weights) {
        try {
            Files.createDirectories(target);
            copyOtherFiles(source, target);
            for (SafeTensorsFile file : files(source)) {
                write(file, target.resolve(file.path().getFileName()), weights);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "Cannot save the model of " + source + " to " + target + ": " + e.getMessage(), e);
        }
    }

    /**
     * Saves weights that have no folder of origin as one safetensors file.
     *
     * @param others a folder with {@code config.json} and tokenizer files to copy
     * @param target a folder, created if need be
     * @param weights the values
     * @param type how to store them: {@code F32} or {@code BF16}
     * @throws UncheckedIOException if a file cannot be read or written
     */
    public static void create(Path others, Path target, Weights weights, String type) {
        try {
            Files.createDirectories(target);
            copyOtherFiles(others, target);
            TensorFile.write(target.resolve(SINGLE), weights.parameters(), Map.of(), StorageType.valueOf(type));
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot save the model to " + target + ": " + e.getMessage(), e);
        }
    }

    private static void copyOtherFiles(Path source, Path target) throws IOException {
        List<Path> others;
        try (Stream<Path> files = Files.list(source)) {
            others = files.filter(Files::isRegularFile)
                    .filter(file -> !file.toString().endsWith(".safetensors"))
                    .toList();
        }
        for (Path file : others) {
            Files.copy(file, target.resolve(file.getFileName()), StandardCopyOption.REPLACE_EXISTING);
        }
    }

    private static void write(SafeTensorsFile source, Path target, Weights weights) throws IOException {
        Map<String, SafeTensorsFile.Entry> entries = new LinkedHashMap<>();
        long position = 0;
        for (Map.Entry<String, SafeTensorsFile.Entry> entry : source.entries().entrySet()) {
            SafeTensorsFile.Entry from = entry.getValue();
            long end = position + from.end() - from.begin();
            entries.put(entry.getKey(), new SafeTensorsFile.Entry(from.type(), from.shape(), position, end));
            position = end;
        }
        try (FileChannel channel = TensorFile.open(target)) {
            TensorFile.writeFully(channel, SafeTensorsFile.header(entries, source.metadata()));
            for (String name : entries.keySet()) {
                TensorFile.writeFully(channel, bytes(source, name, weights));
            }
            channel.force(true);
        }
    }

    private static ByteBuffer bytes(SafeTensorsFile source, String name, Weights weights) {
        NDArray tensor = weights.parameters().get(name);
        if (tensor == null && name.equals("lm_head.weight") && weights.config().tiedEmbeddings()) {
            tensor = weights.head(); // some folders store the tied head a second time
        }
        if (tensor == null) {
            return source.map(name);
        }
        return TensorFile.convert(
                Weights.values(tensor),
                TensorReader.type(source, name, source.entries().get(name)));
    }
}
