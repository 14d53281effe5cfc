package io.bellows.model;

import ai.djl.ndarray.NDArray;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
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
import java.util.stream.Stream;

/** A model folder in Hugging Face layout: {@code config.json}, tokenizer files and one or more safetensors files. */
public final class ModelFolder {

    /** Files that hold weights: a copy of them beside changed weights would be of another model. */
    private static final List<String> WEIGHTS =
            List.of(".safetensors", ".bin", ".pth", ".pt", ".gguf", ".h5", ".msgpack", ".onnx");

    private static final ObjectMapper JSON = new ObjectMapper();

    private ModelFolder() {}

    /**
     * Saves weights as a folder with the same files, tensor names, types and shapes as the folder they came from. Hidden
     * files stay behind, and so do files that hold the old weights in another format.
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
            for (SafeTensorsFile file : TensorFiles.open(source).files()) {
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
     * @param type how to store them
     * @throws UncheckedIOException if a file cannot be read or written
     */
    public static void create(Path others, Path target, Weights weights, StorageType type) {
        try {
            Files.createDirectories(target);
            copyOtherFiles(others, target);
            Files.deleteIfExists(target.resolve(TensorFiles.INDEX)); // it names files that are not copied
            TensorFile.write(target.resolve(TensorFiles.SINGLE), weights.parameters(), Map.of(), type);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot save the model to " + target + ": " + e.getMessage(), e);
        }
    }

    /**
     * Saves a critic as a folder that transformers loads for token classification with one label, in one safetensors file.
     *
     * @param source the folder to take everything but the values from, a policy's or a critic's; not changed
     * @param target a folder, created if need be
     * @param weights the values, with {@link Head#VALUE}, stored in the type that the source stores its embedding in
     * @throws UncheckedIOException if a file cannot be read or written
     */
    public static void saveCritic(Path source, Path target, Weights weights) {
        String embedding = weights.parameters().keySet().iterator().next();
        SafeTensorsFile file = TensorFiles.open(source).byTensor().get(embedding);
        create(source, target, weights, TensorReader.type(file, embedding));
        Path config = target.resolve("config.json");
        try {
            ObjectNode json = (ObjectNode) JSON.readTree(Files.readString(config));
            String causal = json.path("architectures").path(0).asText();
            json.putArray("architectures").add(causal.replaceFirst("For[A-Za-z]+$", "ForTokenClassification"));
            json.putObject("id2label").put("0", "value");
            json.putObject("label2id").put("value", 0);
            json.put("classifier_dropout", 0.0);
            Files.writeString(config, JSON.writerWithDefaultPrettyPrinter().writeValueAsString(json) + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot write " + config + ": " + e.getMessage(), e);
        }
    }

    private static void copyOtherFiles(Path source, Path target) throws IOException {
        List<Path> others;
        try (Stream<Path> files = Files.list(source)) {
            others = files.filter(ModelFolder::isKept).toList();
        }
        for (Path file : others) {
            Path copy = target.resolve(file.getFileName());
            if (!Files.isDirectory(file)) {
                Files.copy(file, copy, StandardCopyOption.REPLACE_EXISTING);
            } else if (!target.toAbsolutePath().startsWith(file.toAbsolutePath())) { // a run inside its model's folder
                copyOtherFiles(file, Files.createDirectories(copy));
            }
        }
    }

    private static boolean isKept(Path file) {
        String name = file.getFileName().toString();
        return !name.startsWith(".") && WEIGHTS.stream().noneMatch(name::endsWith);
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
            tensor = weights.masterHead(); // some folders store the tied head a second time
        }
        if (tensor == null) {
            return source.map(name);
        }
        return TensorFile.convert(Weights.values(tensor), TensorReader.type(source, name));
    }
}
