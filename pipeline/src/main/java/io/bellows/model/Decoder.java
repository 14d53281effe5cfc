package io.bellows.model;

import ai.djl.ndarray.NDArray;
import ai.djl.pytorch.engine.PtNDManager;
import ai.djl.pytorch.jni.ScriptBridge.Mode;
import java.util.List;

/**
 * Scores sequences under a decoder's weights, and carries gradients back to them.
 *
 * <p>Padding-free: linear layers see the tokens of all sequences on one axis, attention runs per sequence. A prompt that several
 * sequences have in common is computed once, forward and backward. Logits of all tokens never live at once. Safe for several threads.
 */
public final class Decoder implements AutoCloseable {

    private static final long MAX_LOGITS = 1L << 24; // 64 MiB of fp32

    private final Kernels kernels;
    private final ModelConfig config;
    private final PtNDManager manager;
    private final RotaryTable rotary;
    private final Activations activations;

    /**
     * Creates a decoder whose training passes keep every activation.
     *
     * @param kernels the compiled source
     * @param config the shape that all weights given later have
     * @param maxLength longest sequence in tokens
     * @throws IllegalArgumentException if {@code maxLength} exceeds the model's positions
     */
    public Decoder(Kernels kernels, ModelConfig config, int maxLength) {
        this(kernels, config, maxLength, Activations.KEEP);
    }

    /**
     * Creates a decoder.
     *
     * @param kernels the compiled source
     * @param config the shape that all weights given later have
     * @param maxLength longest sequence in tokens
     * @param activations what a training pass keeps
     * @throws IllegalArgumentException if {@code maxLength} exceeds the model's positions
     */
    public Decoder(Kernels kernels, ModelConfig config, int maxLength, Activations activations) {
        if (maxLength > config.maxPositions()) {
            throw new IllegalArgumentException("Invalid length " + maxLength
                    + ": the model's max_position_embeddings is " + config.maxPositions());
        }
        this.kernels = kernels;
        this.config = config;
        this.activations = activations;
        this.manager = kernels.newManager();
        this.rotary = RotaryTable.create(manager, config, maxLength);
    }

    /**
     * Scores tokens without recording a graph.
     *
     * @param weights the weights
     * @param sequences the sequences
     * @param temperature positive; logits are divided by it
     * @return log-probs and entropies of the scored tokens, in order
     */
    public TokenScores score(Weights weights, PackedSequences sequences, double temperature) {
        return score(weights, sequences, temperature, false);
    }

    /**
     * Scores tokens as {@link #score} does, and sums the squared probabilities of their distributions.
     *
     * @param weights the weights
     * @param sequences the sequences
     * @param temperature positive; logits are divided by it
     * @return log-probs, entropies and sums of squared probabilities of the scored tokens, in order
     */
    public TokenScores scoreWithSquares(Weights weights, PackedSequences sequences, double temperature) {
        return score(weights, sequences, temperature, true);
    }

    private TokenScores score(Weights weights, PackedSequences sequences, double temperature, boolean squares) {
        try (GradientMode off = GradientMode.off();
                PtNDManager scope = kernels.newManager()) {
            NDArray hidden = hidden(scope, weights, sequences);
            return scores(scope, Mode.INFERENCE, hidden, weights, targets(scope, sequences), temperature, squares);
        }
    }

    /**
     * Scores tokens and keeps what the backward pass needs.
     *
     * @param weights the weights, with gradients enabled by {@link Gradients#of}
     * @param sequences the sequences
     * @param temperature positive; logits are divided by it
     * @return the pass, to be closed by the caller
     */
    public ForwardPass forward(Weights weights, PackedSequences sequences, double temperature) {
        HiddenStates states = hiddenStates(weights, sequences);
        try {
            return new ForwardPass(this, states, weights, targets(states.scope(), sequences), temperature);
        } catch (RuntimeException e) {
            states.close();
            throw e;
        }
    }

    /**
     * Returns what a critic expects before each scored token, without recording a graph: entry i is computed from the tokens
     * before the i-th scored one.
     *
     * @param weights the weights, with {@link Head#VALUE}
     * @param sequences the sequences
     * @return the values of the scored tokens, in order
     */
    public float[] values(Weights weights, PackedSequences sequences) {
        try (GradientMode off = GradientMode.off();
                PtNDManager scope = kernels.newManager()) {
            return values(scope, Mode.INFERENCE, hidden(scope, weights, sequences), weights);
        }
    }

    /**
     * Returns what a reward model says of each sequence: the number of its head at the last token, as transformers' sequence
     * classification has it.
     *
     * @param weights the weights, with {@link Head#SCORE}
     * @param sequences token ids, at least one sequence, each of at least one token
     * @return a score for each, in order
     */
    public float[] scores(Weights weights, List<int[]> sequences) {
        return values(weights, PackedSequences.ends(sequences));
    }

    /**
     * Computes values as {@link #values(Weights, PackedSequences)} does and keeps what the backward pass needs.
     *
     * @param weights the weights, with {@link Head#VALUE} and with gradients enabled by {@link Gradients#of}
     * @param sequences the sequences
     * @return the pass, to be closed by the caller
     */
    public ValuePass forwardValues(Weights weights, PackedSequences sequences) {
        HiddenStates states = hiddenStates(weights, sequences);
        try {
            return new ValuePass(this, states, weights);
        } catch (RuntimeException e) {
            states.close();
            throw e;
        }
    }

    /**
     * Computes final hidden states without recording a graph.
     *
     * @param scope owns the result
     * @param weights the weights
     * @param sequences the sequences
     * @return the state before each scored token, [N, H] fp32
     */
    public NDArray hidden(PtNDManager scope, Weights weights, PackedSequences sequences) {
        checkLengths(sequences);
        try (GradientMode off = GradientMode.off()) {
            Trunk trunk = new Trunk(kernels, scope, weights, weights.list(), rotary, sequences);
            return trunk.states(scope, Mode.INFERENCE, trunk.embed(scope, Mode.INFERENCE));
        }
    }

    /**
     * Computes final hidden states and keeps what the backward pass needs.
     *
     * @param weights the weights, with gradients enabled by {@link Gradients#of}
     * @param sequences the sequences
     * @return the states, to be closed by the caller
     */
    public HiddenStates hiddenStates(Weights weights, PackedSequences sequences) {
        checkLengths(sequences);
        PtNDManager scope = kernels.newManager();
        try {
            Trunk trunk = new Trunk(kernels, scope, weights, weights.masterList(), rotary, sequences);
            return activations == Activations.RECOMPUTE
                    ? new RecomputedActivations(scope, trunk)
                    : new KeptActivations(scope, trunk);
        } catch (RuntimeException e) {
            scope.close();
            throw e;
        }
    }

    private void checkLengths(PackedSequences sequences) {
        int longest = sequences.longest();
        if (longest > rotary.length()) {
            throw new IllegalArgumentException(
                    "Cannot score a sequence of " + longest + " tokens: this decoder was made for " + rotary.length());
        }
    }

    TokenScores scores(PtNDManager scope, NDArray hidden, Weights weights, NDArray targets, double temperature) {
        return scores(scope, Mode.ORDINARY, hidden, weights, targets, temperature, false);
    }

    private TokenScores scores(
            PtNDManager scope,
            Mode mode,
            NDArray hidden,
            Weights weights,
            NDArray targets,
            double temperature,
            boolean squares) {
        List<NDArray> scores = kernels.tensors(
                scope, "token_scores", mode, hidden, weights.head(), targets, 1 / temperature, chunk(), squares);
        return new TokenScores(
                scores.get(0).toFloatArray(),
                scores.get(1).toFloatArray(),
                squares ? scores.get(2).toFloatArray() : null);
    }

    NDArray scoresBackward(
            PtNDManager scope,
            NDArray hidden,
            Weights weights,
            NDArray headGradient,
            NDArray targets,
            float[] dLogProb,
            float[] dEntropy,
            double temperature) {
        return kernels.tensor(
                scope,
                "token_scores_backward",
                Mode.ORDINARY,
                hidden,
                weights.head(),
                targets,
                scope.create(dLogProb),
                scope.create(dEntropy),
                headGradient,
                1 / temperature,
                chunk());
    }

    float[] values(PtNDManager scope, Mode mode, NDArray hidden, Weights weights) {
        return kernels.tensor(scope, "values", mode, hidden, weights.masterHead(), weights.valueBias())
                .toFloatArray();
    }

    NDArray valuesBackward(HiddenStates states, Weights weights, Gradients gradients, float[] dValue) {
        return kernels.tensor(
                states.scope(),
                "values_backward",
                Mode.ORDINARY,
                states.values(),
                weights.masterHead(),
                states.scope().create(dValue),
                gradients.of(weights.masterHead()),
                gradients.of(weights.valueBias()));
    }

    private static NDArray targets(PtNDManager scope, PackedSequences sequences) {
        return scope.create(Trunk.toLongs(sequences.targets()));
    }

    private long chunk() {
        return chunk(config);
    }

    /** Rows of logits that live at once. */
    static long chunk(ModelConfig config) {
        return Math.max(1, MAX_LOGITS / config.vocabularySize());
    }

    @Override
    public void close() {
        manager.close();
    }
}
