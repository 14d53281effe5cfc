package io.bellows.model;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.LongStream;

/**
 * The shape of a decoder, as {@code config.json} of a Hugging Face folder states it.
 *
 * @param architecture the family
 * @param layers number of decoder layers
 * @param hiddenSize width of the residual stream
 * @param intermediateSize width of the gated feed-forward layer
 * @param heads number of query heads
 * @param keyValueHeads number of key-value heads; divides {@code heads}
 * @param headSize width of a head, even
 * @param vocabularySize rows of the embedding
 * @param maxPositions longest sequence in tokens
 * @param normEpsilon epsilon of the root-mean-square norms
 * @param rope base and stretching of the rotary embedding
 * @param windows for each layer, how many positions a token attends to, its own among them; 0: all before it
 * @param tiedEmbeddings whether the output head is the embedding
 * @param initializerRange standard deviation of randomly initialised matrices
 * @param storage the type that the file states for the folder's weights
 */
public record ModelConfig(
        Architecture architecture,
        int layers,
        int hiddenSize,
        int intermediateSize,
        int heads,
        int keyValueHeads,
        int headSize,
        int vocabularySize,
        int maxPositions,
        double normEpsilon,
        RopeScaling rope,
        List<Integer> windows,
        boolean tiedEmbeddings,
        double initializerRange,
        StorageType storage) {

    private static final ObjectMapper JSON = new ObjectMapper();

    /**
     * Reads {@code config.json} of a model folder.
     *
     * @param folder the model folder
     * @return its configuration
     * @throws InvalidModelException if the file is missing or damaged, or the architecture or a feature is unsupported
     */
    public static ModelConfig read(Path folder) {
        return parse(folder.resolve("config.json"));
    }

    /**
     * Reads a configuration file.
     *
     * @param file a Hugging Face {@code config.json}
     * @return the configuration
     * @throws InvalidModelException if the file is missing or damaged, or the architecture or a feature is unsupported
     */
    public static ModelConfig parse(Path file) {
        try {
            JsonNode json = JSON.readTree(Files.readString(file));
            if (!json.isObject()) {
                throw new InvalidModelException("Invalid model configuration " + file + ": expected a JSON object");
            }
            return new ConfigFile(file, json).config();
        } catch (JsonProcessingException e) {
            throw new InvalidModelException(
                    "Invalid model configuration " + file + ": no JSON at line "
                            + (e.getLocation() == null ? "1" : e.getLocation().getLineNr()) + " ("
                            + e.getOriginalMessage() + "). Was it cut short?",
                    e);
        } catch (IOException e) {
            throw new InvalidModelException(
                    "Cannot read model configuration " + file + ": " + e
                            + ". A model folder holds config.json, tokenizer files and safetensors.",
                    e);
        }
    }

    /**
     * Returns the family.
     *
     * @return its {@code model_type}, such as {@code qwen2}
     */
    public String modelType() {
        return architecture.modelType();
    }

    /**
     * Returns the numbers that the decoder source takes as {@code dims}.
     *
     * @return layers, query heads, key-value heads, then the window of each layer
     */
    public long[] dimensions() {
        return LongStream.concat(
                        LongStream.of(layers, heads, keyValueHeads),
                        windows.stream().mapToLong(Integer::longValue))
                .toArray();
    }

    /**
     * Returns the number of scalars in all parameters.
     *
     * @return the count, a tied head counted once
     */
    public long parameterCount() {
        return ParameterLayout.of(this, Head.TOKENS).scalars();
    }
}
