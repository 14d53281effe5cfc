package io.bellows.benchmarks;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.model.ModelConfig;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The sizes that are measured; weights are random. */
enum ModelSize {
    /** 3 thousand parameters, vocabulary 64: what it takes is not the model's work. */
    TINY,
    /** 3.4 million parameters, vocabulary 2,048. */
    S,
    /** As S, vocabulary 64. */
    S64,
    /** 88.3 million parameters, vocabulary 32,000. */
    M;

    /** The decoder's shape, with another vocabulary unless that is 0. */
    ModelConfig config(int vocabulary) {
        try {
            Path file = Files.createTempFile(name(), ".json");
            try {
                write(file, vocabulary);
                return ModelConfig.parse(file);
            } finally {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot write the model configuration of size " + name(), e);
        }
    }

    /** Writes the shape as the {@code config.json} of a model folder, with another vocabulary unless that is 0. */
    void write(Path file, int vocabulary) throws IOException {
        ObjectMapper json = new ObjectMapper();
        try (InputStream in = ModelSize.class.getResourceAsStream(name() + ".json")) {
            ObjectNode fields = (ObjectNode) json.readTree(in);
            if (vocabulary > 0) {
                fields.put("vocab_size", vocabulary);
            }
            json.writeValue(file.toFile(), fields);
        }
    }
}
