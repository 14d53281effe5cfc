package io.bellows.model;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;

/**
 * The shape of a decoder, as {@code config.json} of a Hugging Face folder states it.
 *
 * @param modelType the family, such as {@code qwen2}
 * @param layers number of decoder layers
 * @param hiddenSize width of the residual stream
 * @param intermediateSize width of the gated feed-forward layer
 * @param heads number of query heads
 * @param keyValueHeads number of key-value heads; divides {@code heads}
 * @param headSize width of a head, even
 * @param vocabularySize rows of the embedding
 * @param maxPositions longest sequence in tokens
 * @param normEpsilon epsilon of the root-mean-square norms
 * @param ropeTheta base of the rotary embedding
 * @param tiedEmbeddings whether the output head is the embedding
 * @param attentionBias whether q, k and v have biases
 * @param initializerRange standard deviation of randomly initialised matrices
 */
public record ModelConfig(
        String modelType,
        int layers,
        int hiddenSize,
        int intermediateSize,
        int heads,
        int keyValueHeads,
        int headSize,
        int vocabularySize,
        int maxPositions,
        double normEpsilon,
        double ropeTheta,
        boolean tiedEmbeddings,
        boolean attentionBias,
        double initializerRange) {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final List<String> SUPPORTED = List.of("qwen2");

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
        JsonNode json;
        try {
            json = JSON.readTree(Files.readString(file));
        } catch (IOException e) {
            throw new InvalidModelException(
                    "Cannot read model configuration " + file + ": " + e.getMessage()
                            + ". A model folder holds config.json, tokenizer files and safetensors.",
                    e);
        }
        return new Fields(file, json).config();
    }

    /**
     * Returns the number of scalars in all parameters.
     *
     * @return the count, a tied head counted once
     */
    public long parameterCount() {
        return ParameterLayout.of(this).slots().stream()
                .filter(slot -> !slot.isAbsent())
                .distinct()
                .mapToLong(slot -> slot.shape().size())
                .sum();
    }

    /** Reads fields with errors that name the file and the key. */
    private record Fields(Path file, JsonNode json) {

        ModelConfig config() {
            String type = json.path("model_type").asText("");
            if (!SUPPORTED.contains(type)) {
                throw new InvalidModelException(
                        "Unsupported model_type '" + type + "' in " + file + ": supported are " + SUPPORTED);
            }
            refuseUnsupportedFeatures();
            int hidden = positive("hidden_size");
            int heads = positive("num_attention_heads");
            int keyValueHeads = json.has("num_key_value_heads") ? positive("num_key_value_heads") : heads;
            int headSize = json.hasNonNull("head_dim") ? positive("head_dim") : hidden / heads;
            if (heads % keyValueHeads != 0 || headSize % 2 != 0) {
                throw new InvalidModelException("Invalid heads in " + file + ": num_attention_heads " + heads
                        + " must be a multiple of num_key_value_heads " + keyValueHeads + ", and the head size "
                        + headSize
                        + " must be even");
            }
            return new ModelConfig(
                    type,
                    positive("num_hidden_layers"),
                    hidden,
                    positive("intermediate_size"),
                    heads,
                    keyValueHeads,
                    headSize,
                    positive("vocab_size"),
                    positive("max_position_embeddings"),
                    json.path("rms_norm_eps").asDouble(1e-6),
                    ropeTheta(),
                    json.path("tie_word_embeddings").asBoolean(false),
                    true,
                    json.path("initializer_range").asDouble(0.02));
        }

        private void refuseUnsupportedFeatures() {
            String activation = json.path("hidden_act").asText("silu");
            if (!activation.equals("silu")) {
                throw new InvalidModelException(
                        "Unsupported hidden_act '" + activation + "' in " + file + ": supported is silu");
            }
            if (json.path("use_sliding_window").asBoolean(false)) {
                throw new InvalidModelException(
                        "Unsupported use_sliding_window=true in " + file + ": only full attention");
            }
            JsonNode scaling = json.path("rope_scaling");
            String rope = json.path("rope_parameters")
                    .path("rope_type")
                    .asText(scaling.path("rope_type")
                            .asText(scaling.path("type").asText("default")));
            if (!rope.toLowerCase(Locale.ROOT).equals("default")) {
                throw new InvalidModelException(
                        "Unsupported rope type '" + rope + "' in " + file + ": supported is default");
            }
        }

        /** Newer files hold {@code rope_parameters.rope_theta}, older ones {@code rope_theta}. */
        private double ropeTheta() {
            return json.path("rope_parameters")
                    .path("rope_theta")
                    .asDouble(json.path("rope_theta").asDouble(10_000));
        }

        private int positive(String key) {
            JsonNode value = json.path(key);
            if (!value.canConvertToInt() || value.asInt() <= 0) {
                TreeSet<String> present = new TreeSet<>();
                json.fieldNames().forEachRemaining(present::add);
                throw new InvalidModelException(
                        "Invalid " + key + " in " + file + ": expected a positive integer, found "
                                + (value.isMissingNode() ? "nothing among " + present : value));
            }
            return value.asInt();
        }
    }
}
