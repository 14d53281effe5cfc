package io.bellows.engine;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.pytorch.engine.PtNDManager;
import ai.djl.pytorch.jni.IValue;
import ai.djl.pytorch.jni.ScriptBridge;
import ai.djl.pytorch.jni.ScriptBridge.Mode;
import io.bellows.model.Kernels;
import io.bellows.model.ModelConfig;
import io.bellows.model.RotaryTable;
import io.bellows.model.Weights;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** A decoder with keys and values for a fixed number of slots. */
final class SlotDecoder implements StepModel {

    /** Attention spans are rounded up to this, so that few shapes occur. */
    private static final int SPAN = 64;

    private final Kernels kernels;
    private final Weights weights;
    private final int maxLength;
    private final PtNDManager manager;
    private final RotaryTable rotary;
    private final IValue keys;
    private final IValue values;
    private final long[] dimensions;

    SlotDecoder(Kernels kernels, Weights weights, EngineSettings settings) {
        ModelConfig config = weights.config();
        this.kernels = kernels;
        this.weights = weights;
        this.maxLength = settings.maxLength();
        this.manager = kernels.newManager();
        this.dimensions = config.dimensions();
        try {
            this.rotary = RotaryTable.create(manager, config, maxLength);
            this.keys = cache(config, settings);
            this.values = cache(config, settings);
        } catch (RuntimeException e) {
            manager.close();
            throw e;
        }
    }

    private IValue cache(ModelConfig config, EngineSettings settings) {
        long[] shape = {settings.slots(), config.keyValueHeads(), maxLength + 1L, config.headSize()};
        return ScriptBridge.listOf(
                kernels.tensors(manager, "caches", Mode.INFERENCE, weights.list(), config.layers(), shape));
    }

    @Override
    public List<NDArray> prefill(List<Piece> pieces) {
        long[] ids = new long[pieces.stream().mapToInt(p -> p.end() - p.start()).sum()];
        long[] layout = new long[3 * pieces.size()];
        List<Long> ends = new ArrayList<>();
        int tokens = 0;
        for (int i = 0; i < pieces.size(); i++) {
            Piece piece = pieces.get(i);
            for (int t = piece.start(); t < piece.end(); t++) {
                ids[tokens++] = piece.prompt()[t];
            }
            layout[3 * i] = piece.slot();
            layout[3 * i + 1] = piece.start();
            layout[3 * i + 2] = (long) piece.end() - piece.start();
            if (piece.endsPrompt()) {
                ends.add(tokens - 1L);
            }
        }
        try (PtNDManager scope = kernels.newManager()) {
            NDArray rows = scope.create(ends.stream().mapToLong(Long::longValue).toArray());
            return kernels.tensors(
                    manager,
                    "prefill",
                    Mode.INFERENCE,
                    weights.list(),
                    keys,
                    values,
                    scope.create(ids),
                    layout,
                    rows,
                    rotary.cos(),
                    rotary.sin(),
                    dimensions,
                    weights.config().normEpsilon());
        }
    }

    @Override
    public Draws drawFirst(List<NDArray> logits, Rows rows) {
        try (PtNDManager scope = kernels.newManager()) {
            return new Draws(kernels.tensor(
                            scope,
                            "draw_first",
                            Mode.INFERENCE,
                            logits,
                            table(scope, rows),
                            rows.sampled(),
                            rows.candidates())
                    .toDoubleArray());
        }
    }

    @Override
    public Draws decode(Rows rows) {
        int span = Math.min(maxLength, (rows.longest() + SPAN - 1) / SPAN * SPAN);
        try (PtNDManager scope = kernels.newManager()) {
            return new Draws(kernels.tensor(
                            scope,
                            "decode",
                            Mode.INFERENCE,
                            weights.list(),
                            keys,
                            values,
                            table(scope, rows),
                            span,
                            rows.sampled(),
                            rows.candidates(),
                            rotary.cos(),
                            rotary.sin(),
                            dimensions,
                            weights.config().normEpsilon())
                    .toDoubleArray());
        }
    }

    private static NDArray table(PtNDManager scope, Rows rows) {
        return scope.create(rows.table(), new Shape(rows.count(), Rows.COLUMNS));
    }

    @Override
    public void copy(int source, int[] targets, int length) {
        long[] slots = IntStream.of(targets).asLongStream().toArray();
        kernels.run("copy_slot", Mode.INFERENCE, keys, values, source, slots, length);
    }

    @Override
    public void clear(int slot) {
        kernels.run("clear_slot", Mode.INFERENCE, keys, values, slot);
    }

    @Override
    public void close() {
        keys.close();
        values.close();
        manager.close();
    }
}
