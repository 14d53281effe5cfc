package io.bellows.model;

import ai.djl.ndarray.NDArray;
import ai.djl.pytorch.engine.PtNDManager;
import ai.djl.pytorch.jni.IValue;
import ai.djl.pytorch.jni.ScriptBridge.Mode;
import java.util.Arrays;

/** Everything of a decoder below its head, applied to some sequences: at once or layer by layer. */
final class Trunk {

    private final Kernels kernels;
    private final ModelConfig config;
    private final IValue weights;
    private final int type;
    private final NDArray ids;
    private final NDArray positions;
    private final long[] runs;
    private final long[] prompts;
    private final NDArray rows;
    private final RotaryTable rotary;

    /**
     * Prepares a pass.
     *
     * @param scope owns the inputs
     * @param list the weights to use, one of the lists of {@code weights}
     */
    Trunk(
            Kernels kernels,
            PtNDManager scope,
            Weights weights,
            IValue list,
            RotaryTable rotary,
            PackedSequences sequences) {
        this.kernels = kernels;
        this.config = weights.config();
        this.weights = list;
        this.type = weights.type().code();
        this.ids = scope.create(toLongs(sequences.ids()));
        this.positions = scope.create(toLongs(sequences.positions()));
        this.runs = toLongs(sequences.runs());
        this.prompts = toLongs(sequences.prompts());
        this.rows = scope.create(toLongs(sequences.rows()));
        this.rotary = rotary;
    }

    static long[] toLongs(int[] values) {
        return Arrays.stream(values).asLongStream().toArray();
    }

    Kernels kernels() {
        return kernels;
    }

    int layers() {
        return config.layers();
    }

    /** Final hidden states from what {@link #embed} returns, [N, H] fp32. */
    NDArray states(PtNDManager owner, Mode mode, NDArray embedded) {
        return kernels.tensor(
                owner,
                "hidden",
                mode,
                weights,
                embedded,
                positions,
                runs,
                prompts,
                rows,
                rotary.cos(),
                rotary.sin(),
                config.dimensions(),
                config.normEpsilon());
    }

    /** The input of the first layer, [T, H]. */
    NDArray embed(PtNDManager owner, Mode mode) {
        return kernels.tensor(owner, "embed", mode, weights, type, ids);
    }

    /** Adds d(loss)/d(embedding) to its gradient, given that of what {@link #embed} returned. */
    void embedBackward(NDArray gradient, NDArray dEmbedded) {
        kernels.run("embed_backward", Mode.ORDINARY, gradient, ids, dEmbedded);
    }

    /** Cosines and sines of the tokens' positions, in the type of {@code like}. */
    RotaryTable turns(PtNDManager owner, NDArray like) {
        NDArray cos = kernels.tensor(owner, "turns", Mode.ORDINARY, rotary.cos(), positions, like);
        NDArray sin = kernels.tensor(owner, "turns", Mode.ORDINARY, rotary.sin(), positions, like);
        return new RotaryTable(cos, sin, rotary.length());
    }

    /** The output of a layer, [T, H]. */
    NDArray layer(PtNDManager owner, int layer, NDArray input, RotaryTable turns) {
        return kernels.tensor(
                owner,
                "cast_layer",
                Mode.ORDINARY,
                weights,
                layer,
                input,
                turns.cos(),
                turns.sin(),
                runs,
                prompts,
                config.dimensions(),
                config.normEpsilon());
    }

    /** Final hidden states from the output of the last layer, [N, H] fp32. */
    NDArray finalNorm(PtNDManager owner, NDArray output) {
        return kernels.tensor(owner, "final_norm", Mode.ORDINARY, weights, output, rows, config.normEpsilon());
    }
}
