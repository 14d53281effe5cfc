package io.bellows.model;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.bellows.model.ParameterLayout.Slot;
import java.io.IOException;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The safetensors of a model folder: one file, or several that an index names.
 *
 * @param byTensor the file of each tensor
 */
record TensorFiles(Map<String, SafeTensorsFile> byTensor) {

    static final String SINGLE = "model.safetensors";
    static final String INDEX = "model.safetensors.index.json";
    private static final ObjectMapper JSON = new ObjectMapper();

    /**
     * Reads all headers.
     *
     * @throws InvalidModelException if a file is missing or damaged, or the index and its files disagree
     */
    static TensorFiles open(Path folder) {
        Map<String, SafeTensorsFile> tensors = new LinkedHashMap<>();
        Path index = folder.resolve(INDEX);
        if (Files.exists(index)) {
            Map<String, SafeTensorsFile> shards = new TreeMap<>();
            weightMap(index).forEach((tensor, shard) -> {
                SafeTensorsFile file = shards.computeIfAbsent(shard, name -> shard(folder, index, name));
                if (!file.entries().containsKey(tensor)) {
                    throw new InvalidModelException("Invalid index " + index + ": tensor " + tensor
                            + " is said to be in " + shard + ", which does not hold it");
                }
                tensors.put(tensor, file);
            });
        } else if (Files.exists(folder.resolve(SINGLE))) {
            SafeTensorsFile file = SafeTensorsFile.open(folder.resolve(SINGLE));
            file.entries().keySet().forEach(name -> tensors.put(name, file));
        } else {
            throw new InvalidModelException("Cannot find weights in " + folder + ": expected " + SINGLE + ", or "
                    + INDEX + " and the files that it names");
        }
        return new TensorFiles(tensors);
    }

    private static Map<String, String> weightMap(Path index) {
        JsonNode map;
        try {
            map = JSON.readTree(Files.readString(index)).path("weight_map");
        } catch (IOException e) {
            throw new InvalidModelException(
                    "Cannot read index " + index + ": " + e.getMessage() + ". Was it cut short?", e);
        }
        Map<String, String> names = new TreeMap<>();
        map.properties().forEach(entry -> {
            if (!entry.getValue().isTextual()) {
                throw new InvalidModelException("Invalid index " + index + ": expected a file name for tensor "
                        + entry.getKey() + ", found " + entry.getValue());
            }
            names.put(entry.getKey(), entry.getValue().asText());
        });
        if (names.isEmpty()) {
            throw new InvalidModelException(
                    "Invalid index " + index + ": expected weight_map with the file of each tensor, found " + map);
        }
        return names;
    }

    /** An index is input from outside: its names must not lead out of the folder. */
    private static SafeTensorsFile shard(Path folder, Path index, String name) {
        Path path;
        try {
            path = folder.resolve(name).normalize();
        } catch (InvalidPathException e) {
            path = folder; // what is no path leads nowhere
        }
        if (!folder.normalize().equals(path.getParent())) {
            throw new InvalidModelException("Invalid file name '" + name + "' in " + index
                    + ": expected the name of a file in the same folder");
        }
        if (!Files.exists(path)) {
            throw new InvalidModelException("Cannot find " + path + ", which " + index + " names");
        }
        return SafeTensorsFile.open(path);
    }

    /** The files, each once, in the order of their names. */
    List<SafeTensorsFile> files() {
        Map<Path, SafeTensorsFile> files = new TreeMap<>();
        byTensor.values().forEach(file -> files.put(file.path(), file));
        return List.copyOf(files.values());
    }

    /**
     * Compares the headers with what a decoder needs, before anything is allocated for it.
     *
     * @throws InvalidModelException if a tensor is missing or of another shape or type
     */
    void check(ParameterLayout layout) {
        for (Slot slot : layout.slots()) {
            if (!slot.isAbsent() && !isLeftOut(slot)) {
                TensorReader.check(file(slot), slot);
            }
        }
    }

    /**
     * Fills {@code target}, which holds zeros, with a tensor's values as fp32.
     *
     * @throws InvalidModelException if it is missing or of another shape or type, or a value is not finite
     */
    void read(Slot slot, FloatBuffer target) {
        if (isLeftOut(slot)) {
            target.position(target.limit());
        } else {
            TensorReader.read(file(slot), slot, target);
        }
    }

    /**
     * Refuses a folder that no reward model was saved in, whose head would otherwise be zeros.
     *
     * @throws InvalidModelException if there is no head
     */
    void requireScoreHead(Path folder) {
        if (!byTensor.containsKey(ParameterLayout.VALUE_WEIGHT)) {
            throw new InvalidModelException("Cannot find tensor " + ParameterLayout.VALUE_WEIGHT + " in " + folder
                    + ": a reward model brings its head; name a folder that was saved for sequence classification with"
                    + " one label");
        }
    }

    private boolean isLeftOut(Slot slot) {
        return slot.isOptional() && !byTensor.containsKey(slot.name());
    }

    private SafeTensorsFile file(Slot slot) {
        SafeTensorsFile file = byTensor.get(slot.name());
        if (file == null) {
            TreeSet<String> paths = files().stream()
                    .map(found -> found.path().toString())
                    .collect(Collectors.toCollection(TreeSet::new));
            throw new InvalidModelException("Cannot find tensor " + slot.name() + " of shape " + slot.shape() + " in "
                    + paths + ", which hold " + byTensor.size() + " tensors");
        }
        return file;
    }
}
