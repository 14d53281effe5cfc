package io.bellows.model;

import ai.djl.ndarray.types.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

/**
 * Names and shapes of a decoder's parameters in the order that the decoder source expects.
 *
 * @param slots one entry per place of the weight list, in order
 */
record ParameterLayout(List<Slot> slots) {

    /** The place of the output head. */
    static final int HEAD = 2;

    /** Weight of a value head, in the place of the output head. */
    static final String VALUE_WEIGHT = "score.weight";

    /** Bias of a value head, in the last place. */
    static final String VALUE_BIAS = "score.bias";

    private static final long MOST_ELEMENTS = Integer.MAX_VALUE / Float.BYTES;

    /**
     * One place of the weight list.
     *
     * @param name the tensor's name in Hugging Face files, or null where the architecture has none
     * @param shape its shape, or null
     */
    record Slot(String name, Shape shape) {
        static final Slot ABSENT = new Slot(null, null);

        boolean isAbsent() {
            return name == null;
        }

        /**
         * Number of scalars.
         *
         * @throws InvalidModelException if they take more memory, as fp32, than a buffer of the JVM reaches
         */
        int elements() {
            long elements = shape.size();
            if (elements > MOST_ELEMENTS) {
                throw new InvalidModelException(String.format(
                        "Unsupported tensor %s of shape %s: its %d numbers take %d bytes in fp32, in which weights are kept,"
                                + " and a tensor has at most 2 GiB (%d numbers); take a model with a smaller vocabulary"
                                + " or hidden size",
                        name, shape, elements, elements * Float.BYTES, MOST_ELEMENTS));
            }
            return (int) elements;
        }

        boolean isMatrix() {
            return shape.dimension() == 2;
        }

        boolean isNorm() {
            return name.endsWith("norm.weight");
        }

        /** Whether a folder may lack the tensor, which is then zeros. */
        boolean isOptional() {
            return name.equals(VALUE_WEIGHT) || name.equals(VALUE_BIAS);
        }
    }

    static ParameterLayout of(ModelConfig config, Head head) {
        long hidden = config.hiddenSize();
        long query = (long) config.heads() * config.headSize();
        long keyValue = (long) config.keyValueHeads() * config.headSize();
        long inner = config.intermediateSize();
        Shape vocabulary = new Shape(config.vocabularySize(), hidden);
        List<Slot> slots = new ArrayList<>();
        slots.add(new Slot("model.embed_tokens.weight", vocabulary));
        slots.add(new Slot("model.norm.weight", new Shape(hidden)));
        slots.add(
                switch (head) {
                    case TOKENS -> config.tiedEmbeddings() ? slots.get(0) : new Slot("lm_head.weight", vocabulary);
                    case VALUE, SCORE -> new Slot(VALUE_WEIGHT, new Shape(1, hidden));
                });
        for (int layer = 0; layer < config.layers(); layer++) {
            String at = "model.layers." + layer + ".";
            slots.add(new Slot(at + "input_layernorm.weight", new Shape(hidden)));
            addProjection(slots, at + "self_attn.q_proj", query, hidden, config);
            addProjection(slots, at + "self_attn.k_proj", keyValue, hidden, config);
            addProjection(slots, at + "self_attn.v_proj", keyValue, hidden, config);
            addHeadNorm(slots, at + "self_attn.q_norm.weight", config);
            addHeadNorm(slots, at + "self_attn.k_norm.weight", config);
            slots.add(new Slot(at + "self_attn.o_proj.weight", new Shape(hidden, query)));
            slots.add(new Slot(at + "post_attention_layernorm.weight", new Shape(hidden)));
            slots.add(new Slot(at + "mlp.gate_proj.weight", new Shape(inner, hidden)));
            slots.add(new Slot(at + "mlp.up_proj.weight", new Shape(inner, hidden)));
            slots.add(new Slot(at + "mlp.down_proj.weight", new Shape(hidden, inner)));
        }
        if (head != Head.TOKENS) {
            slots.add(new Slot(VALUE_BIAS, new Shape(1)));
        }
        return new ParameterLayout(List.copyOf(slots));
    }

    /** Number of scalars, a tied head counted once. */
    long scalars() {
        return sizes().sum();
    }

    /** Scalars of the largest tensor. */
    long largest() {
        return sizes().max().orElseThrow();
    }

    private LongStream sizes() {
        return slots.stream()
                .filter(slot -> !slot.isAbsent())
                .distinct()
                .mapToLong(slot -> slot.shape().size());
    }

    private static void addProjection(List<Slot> slots, String name, long rows, long columns, ModelConfig config) {
        slots.add(new Slot(name + ".weight", new Shape(rows, columns)));
        slots.add(config.architecture().attentionBias() ? new Slot(name + ".bias", new Shape(rows)) : Slot.ABSENT);
    }

    private static void addHeadNorm(List<Slot> slots, String name, ModelConfig config) {
        slots.add(config.architecture().queryKeyNorm() ? new Slot(name, new Shape(config.headSize())) : Slot.ABSENT);
    }
}
