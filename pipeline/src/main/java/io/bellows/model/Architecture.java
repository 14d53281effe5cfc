package io.bellows.model;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * What sets a family of decoders apart from the others, beside the numbers in its {@code config.json}.
 *
 * @param modelType the family's {@code model_type}
 * @param attentionBias whether q, k and v have biases
 * @param queryKeyNorm whether each head's q and k pass through a norm of their own
 * @param defaultHeadSize the head size where {@code head_dim} is absent; 0: hidden size over heads
 * @param windows which layers attend to a sliding window only
 */
public record Architecture(
        String modelType, boolean attentionBias, boolean queryKeyNorm, int defaultHeadSize, Windows windows) {

    /** Which layers attend to a sliding window. */
    public enum Windows {
        /** None. */
        NONE,
        /** All, as soon as {@code sliding_window} is a number. */
        ALL_LAYERS,
        /** With {@code use_sliding_window}, those of {@code layer_types}, else those from {@code max_window_layers} on. */
        BY_LAYER
    }

    private static final List<Architecture> KNOWN = List.of(
            new Architecture("qwen2", true, false, 0, Windows.BY_LAYER),
            new Architecture("qwen3", false, true, 128, Windows.BY_LAYER),
            new Architecture("llama", false, false, 0, Windows.NONE),
            new Architecture("mistral", false, false, 0, Windows.ALL_LAYERS));

    static Optional<Architecture> named(String modelType) {
        return KNOWN.stream()
                .filter(architecture -> architecture.modelType.equals(modelType))
                .findFirst();
    }

    static String names() {
        return KNOWN.stream().map(Architecture::modelType).collect(Collectors.joining(", "));
    }
}
