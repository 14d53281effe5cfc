package io.bellows.model;

import ai.djl.ndarray.NDArray;

/**
 * A forward pass whose graph is kept until closed. The loss is computed outside, on {@link #scores()}; its derivatives
 * come back by {@link #backward}.
 */
public final class ForwardPass implements AutoCloseable {

    private final Decoder decoder;
    private final HiddenStates states;
    private final Weights weights;
    private final NDArray targets;
    private final double temperature;
    private final TokenScores scores;

    ForwardPass(Decoder decoder, HiddenStates states, Weights weights, NDArray targets, double temperature) {
        this.decoder = decoder;
        this.states = states;
        this.weights = weights;
        this.targets = targets;
        this.temperature = temperature;
        try (GradientMode off = GradientMode.off()) {
            this.scores = decoder.scores(states.scope(), states.values(), weights, targets, temperature);
        }
    }

    /**
     * Returns what the decoder said about the scored tokens.
     *
     * @return log-probs and entropies, N each
     */
    public TokenScores scores() {
        return scores;
    }

    /**
     * Adds d(loss)/d(weights) to the gradients.
     *
     * @param gradients where to add
     * @param dLogProb d(loss)/d(log-prob) of each scored token, N
     * @param dEntropy d(loss)/d(entropy) of each scored token, N
     */
    public void backward(Gradients gradients, float[] dLogProb, float[] dEntropy) {
        NDArray dHidden;
        try (GradientMode off = GradientMode.off()) {
            dHidden = decoder.scoresBackward(
                    states.scope(),
                    states.values(),
                    weights,
                    gradients.of(weights.masterHead()),
                    targets,
                    dLogProb,
                    dEntropy,
                    temperature);
        }
        states.backward(gradients, dHidden);
    }

    @Override
    public void close() {
        states.close();
    }
}
