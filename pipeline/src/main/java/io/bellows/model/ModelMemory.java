package io.bellows.model;

/**
 * How many bytes of tensors a decoder takes, computed from its shape alone.
 *
 * @param config the shape
 * @param head what it gives
 * @param type what it computes in
 * @param activations what a training pass keeps
 */
public record ModelMemory(ModelConfig config, Head head, ComputeType type, Activations activations) {

    private static final int FLOAT = Float.BYTES;

    /** A step's logits: as they come, divided by the temperature, as log-probs and probabilities, and summed in fp64. */
    private static final int BYTES_PER_DRAWN_LOGIT = 5 * FLOAT + Double.BYTES;

    /**
     * Counts the scalars of all parameters.
     *
     * @return the count, a tied head counted once
     */
    public long parameters() {
        return ParameterLayout.of(config, head).scalars();
    }

    /**
     * Weights, in fp32 and beside that in the type of the computation.
     *
     * @return bytes
     */
    public long weights() {
        return parameters() * (FLOAT + (type == ComputeType.FLOAT32 ? 0 : bytesPerElement()));
    }

    /**
     * Gradients, which every rank has whole.
     *
     * @return bytes
     */
    public long gradients() {
        return parameters() * FLOAT;
    }

    /**
     * Both moments of AdamW, of which a rank has its share.
     *
     * @param ranks number of ranks
     * @return bytes
     */
    public long moments(int ranks) {
        return (parameters() * 2 * FLOAT + ranks - 1) / ranks;
    }

    /**
     * Keys and values of an engine.
     *
     * @param slots sequences decoded at once
     * @param length longest sequence in tokens
     * @return bytes
     */
    public long cache(int slots, int length) {
        long position = 2L * config.layers() * config.keyValueHeads() * config.headSize() * bytesPerElement();
        return slots * (length + 1L) * position;
    }

    /**
     * What an engine takes for a step and gives back after it.
     *
     * @param slots sequences decoded at once
     * @param prefill prompt tokens taken in per step
     * @return bytes
     */
    public long step(int slots, long prefill) {
        return prefill * layerActivations() + (long) slots * config.vocabularySize() * BYTES_PER_DRAWN_LOGIT;
    }

    /**
     * What scoring a micro-batch takes and gives back after it.
     *
     * @param tokens of the micro-batch
     * @return bytes
     */
    public long score(long tokens) {
        return tokens * layerActivations() + 2 * logits(tokens) + states(tokens);
    }

    /**
     * What forward and backward of a micro-batch take and give back after it: activations, hidden states and a chunk's logits.
     *
     * @param tokens of the micro-batch
     * @return bytes
     */
    public long trainingPass(long tokens) {
        boolean keep = activations == Activations.KEEP;
        long inputs = config.layers() * tokens * config.hiddenSize() * bytesPerElement();
        long layers = tokens * layerActivations() * (keep ? config.layers() : 1) + (keep ? 0 : inputs);
        long casts = type == ComputeType.FLOAT32 ? 0 : parameters() * bytesPerElement() / (keep ? 1 : config.layers());
        return layers + casts + 3 * logits(tokens) + states(tokens);
    }

    /**
     * The largest tensor in fp32: what the Java heap holds at once while weights are saved.
     *
     * @return bytes
     */
    public long largestTensor() {
        return FLOAT * ParameterLayout.of(config, head).largest();
    }

    /** What a layer keeps of a token for its backward pass: norms, rotated heads, attention, gates. */
    private long layerActivations() {
        long query = (long) config.heads() * config.headSize();
        long keyValue = (long) config.keyValueHeads() * config.headSize();
        long elements = 6L * config.hiddenSize() + 7 * query + 2 * keyValue + 4L * config.intermediateSize();
        return elements * bytesPerElement();
    }

    /** One matrix of logits, in fp32. */
    private long logits(long tokens) {
        if (head != Head.TOKENS) {
            return 0;
        }
        long chunk = Math.min(tokens, Decoder.chunk(config));
        return FLOAT * chunk * config.vocabularySize();
    }

    /** Final hidden states and their gradients, in fp32. */
    private long states(long tokens) {
        return 3L * FLOAT * tokens * config.hiddenSize();
    }

    private int bytesPerElement() {
        return type == ComputeType.FLOAT32 ? FLOAT : Short.BYTES;
    }
}
