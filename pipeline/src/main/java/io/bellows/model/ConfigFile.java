package io.bellows.model;

import com.fasterxml.jackson.databind.JsonNode;
import io.bellows.model.Architecture.Windows;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;

/**
 * The fields of a {@code config.json}, read with errors that name the file and the key.
 *
 * @param file where the fields come from
 * @param json an object
 */
record ConfigFile(Path file, JsonNode json) {

    // A damaged number must not become a huge allocation; published models stay far below.
    private static final int MOST_LAYERS = 1_000;
    private static final int MOST_HEADS = 1 << 12;
    private static final int WIDEST = 1 << 20;
    private static final int MOST_TOKENS = 1 << 24;

    private static final int DEFAULT_WINDOW = 4096;
    private static final int DEFAULT_MAX_WINDOW_LAYERS = 28;
    private static final String SLIDING = "sliding_attention";
    private static final String FULL = "full_attention";

    /** Features that no supported family has, or that are not there: what their keys may say without meaning them. */
    private static final List<String> UNSUPPORTED = List.of(
            "mlp_bias",
            "quantization_config",
            "attention_dropout",
            "attn_logit_softcapping",
            "final_logit_softcapping",
            "query_pre_attn_scalar",
            "attention_multiplier",
            "embedding_multiplier",
            "residual_multiplier",
            "logits_scaling",
            "num_experts",
            "num_local_experts");

    ModelConfig config() {
        String type = json.path("model_type").asText("");
        Architecture architecture = Architecture.named(type)
                .orElseThrow(() -> new InvalidModelException("Unsupported model_type '" + type + "' in " + file
                        + ": supported are " + Architecture.names()));
        refuseUnsupportedFeatures(architecture);
        int layers = positive("num_hidden_layers", MOST_LAYERS);
        int heads = positive("num_attention_heads", MOST_HEADS);
        int keyValueHeads = json.hasNonNull("num_key_value_heads") ? positive("num_key_value_heads", heads) : heads;
        int hidden = positive("hidden_size", WIDEST);
        int headSize = headSize(architecture, hidden, heads);
        if (heads % keyValueHeads != 0 || headSize % 2 != 0) {
            throw new InvalidModelException("Invalid heads in " + file + ": num_attention_heads " + heads
                    + " must be a multiple of num_key_value_heads " + keyValueHeads + ", and the head size " + headSize
                    + " must be even");
        }
        return new ModelConfig(
                architecture,
                layers,
                hidden,
                positive("intermediate_size", WIDEST),
                heads,
                keyValueHeads,
                headSize,
                positive("vocab_size", MOST_TOKENS),
                positive("max_position_embeddings", MOST_TOKENS),
                number(json, "rms_norm_eps", 1e-6),
                rope(),
                windows(architecture.windows(), layers),
                flag("tie_word_embeddings"),
                number(json, "initializer_range", 0.02),
                storage());
    }

    private void refuseUnsupportedFeatures(Architecture architecture) {
        String activation = json.path("hidden_act").asText("silu");
        if (!activation.equals("silu")) {
            throw unsupported("hidden_act", "'" + activation + "'", "supported is silu");
        }
        UNSUPPORTED.forEach(this::refuse);
        if (!architecture.attentionBias()) {
            refuse("attention_bias"); // qwen2 has its biases whatever this key says
        }
        if (number(json, "partial_rotary_factor", 1) != 1) {
            throw unsupported("partial_rotary_factor", json.path("partial_rotary_factor"), "supported is 1");
        }
    }

    private void refuse(String key) {
        JsonNode value = json.path(key);
        boolean means = !(value.isMissingNode() || value.isNull() || (value.isNumber() && value.asDouble() == 0));
        if (means && !(value.isBoolean() && !value.asBoolean())) {
            throw unsupported(key, value, "supported is a model without it");
        }
    }

    private int headSize(Architecture architecture, int hidden, int heads) {
        if (json.hasNonNull("head_dim")) {
            return positive("head_dim", WIDEST);
        }
        if (architecture.defaultHeadSize() > 0) {
            return architecture.defaultHeadSize();
        }
        if (hidden % heads != 0) {
            throw new InvalidModelException("Invalid hidden_size in " + file + ": " + hidden
                    + " is no multiple of num_attention_heads, " + heads + ", and there is no head_dim");
        }
        return hidden / heads;
    }

    // ---- rotary embedding: older files have rope_theta and rope_scaling, newer ones rope_parameters with both

    private RopeScaling rope() {
        JsonNode rope = json.hasNonNull("rope_scaling") ? json.path("rope_scaling") : json.path("rope_parameters");
        if (!rope.isMissingNode() && !rope.isNull() && !rope.isObject()) {
            throw invalid("rope_parameters", "an object with rope_type", rope);
        }
        double theta = number(rope.has("rope_theta") ? rope : json, "rope_theta", 10_000);
        JsonNode type = rope.has("rope_type") ? rope.path("rope_type") : rope.path("type");
        return switch (type.asText("default")) {
            case "default" -> {
                if (rope.has(FULL) || rope.has(SLIDING)) {
                    throw unsupported("rope_parameters", rope, "one set of parameters for all layers");
                }
                yield RopeScaling.none(theta);
            }
            case "linear" -> RopeScaling.linear(theta, required(rope, "factor"));
            case "llama3" -> llama3(rope, theta);
            default -> throw unsupported("rope_type", type, "supported are default, linear and llama3");
        };
    }

    private RopeScaling llama3(JsonNode rope, double theta) {
        double low = required(rope, "low_freq_factor");
        double high = required(rope, "high_freq_factor");
        if (high <= low) {
            throw invalid("high_freq_factor", "a number above low_freq_factor, " + low, rope.path("high_freq_factor"));
        }
        int original = integer(rope, "original_max_position_embeddings", MOST_TOKENS);
        return new RopeScaling(RopeScaling.Type.LLAMA3, theta, required(rope, "factor"), low, high, original);
    }

    // ---- sliding windows

    private List<Integer> windows(Windows windows, int layers) {
        List<String> types = layerTypes(layers);
        boolean enabled = windows == Windows.BY_LAYER ? flag("use_sliding_window") : windows == Windows.ALL_LAYERS;
        if (!enabled
                || (json.has("sliding_window") && json.path("sliding_window").isNull())) {
            if (types.contains(SLIDING)) {
                throw unsupported(
                        "layer_types", "'" + SLIDING + "'", "this family's windows are off, or the file names no size");
            }
            return Collections.nCopies(layers, 0);
        }
        if (windows == Windows.ALL_LAYERS && types.contains(FULL)) {
            throw unsupported("layer_types", "'" + FULL + "'", "all layers of this family have the sliding_window");
        }
        int size = json.has("sliding_window") ? positive("sliding_window", Integer.MAX_VALUE) : DEFAULT_WINDOW;
        int first = windows == Windows.ALL_LAYERS ? 0 : wholeNumber("max_window_layers", DEFAULT_MAX_WINDOW_LAYERS);
        return IntStream.range(0, layers)
                .mapToObj(layer ->
                        types.isEmpty() ? layer >= first : types.get(layer).equals(SLIDING))
                .map(slides -> slides ? size : 0)
                .toList();
    }

    /** What {@code layer_types} says of each layer, or an empty list. */
    private List<String> layerTypes(int layers) {
        JsonNode types = json.path("layer_types");
        if (types.isMissingNode() || types.isNull()) {
            return List.of();
        }
        List<String> names = StreamSupport.stream(types.spliterator(), false)
                .map(JsonNode::asText)
                .toList();
        if (names.size() != layers) {
            throw invalid("layer_types", "one entry for each of num_hidden_layers = " + layers, types);
        }
        for (String name : names) {
            if (!name.equals(SLIDING) && !name.equals(FULL)) {
                throw unsupported("layer_types", "'" + name + "'", "supported are " + FULL + " and " + SLIDING);
            }
        }
        return names;
    }

    // ---- values

    /** The type that the folder says its weights have; newer files write {@code dtype}, older ones {@code torch_dtype}. */
    private StorageType storage() {
        JsonNode type = json.hasNonNull("dtype") ? json.path("dtype") : json.path("torch_dtype");
        return switch (type.asText("")) {
            case "bfloat16" -> StorageType.BF16;
            case "float16" -> StorageType.F16;
            default -> StorageType.F32;
        };
    }

    private int positive(String key, int most) {
        return integer(json, key, most);
    }

    private int integer(JsonNode parent, String key, int most) {
        JsonNode value = parent.path(key);
        if (!value.isIntegralNumber() || !value.canConvertToInt() || value.asInt() < 1 || value.asInt() > most) {
            throw invalid(key, "an integer from 1 to " + most, value);
        }
        return value.asInt();
    }

    private int wholeNumber(String key, int absent) {
        JsonNode value = json.path(key);
        if (value.isMissingNode() || value.isNull()) {
            return absent;
        }
        if (!value.isIntegralNumber() || !value.canConvertToInt() || value.asInt() < 0) {
            throw invalid(key, "an integer of at least 0", value);
        }
        return value.asInt();
    }

    private double number(JsonNode parent, String key, double absent) {
        return parent.hasNonNull(key) ? required(parent, key) : absent;
    }

    private double required(JsonNode parent, String key) {
        JsonNode value = parent.path(key);
        if (!value.isNumber() || !(value.asDouble() > 0) || !Double.isFinite(value.asDouble())) {
            throw invalid(key, "a number above 0", value);
        }
        return value.asDouble();
    }

    private boolean flag(String key) {
        JsonNode value = json.path(key);
        if (!value.isMissingNode() && !value.isNull() && !value.isBoolean()) {
            throw invalid(key, "true or false", value);
        }
        return value.asBoolean(false);
    }

    private InvalidModelException invalid(String key, String expected, JsonNode found) {
        TreeSet<String> present = new TreeSet<>();
        json.fieldNames().forEachRemaining(present::add);
        return new InvalidModelException("Invalid " + key + " in " + file + ": expected " + expected + ", found "
                + (found.isMissingNode() ? "nothing; the file has " + present : found));
    }

    private InvalidModelException unsupported(String key, Object value, String supported) {
        return new InvalidModelException("Unsupported " + key + " = " + value + " in " + file + ": " + supported);
    }
}
