package io.bellows.model;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.pytorch.engine.PtNDManager;

/**
 * Cosines and sines of the rotary position embedding (Su et al., 2021, "RoFormer"), in the half-split layout of Hugging
 * Face.
 *
 * @param cos [length, head size]
 * @param sin [length, head size]
 * @param length positions covered
 */
public record RotaryTable(NDArray cos, NDArray sin, int length) {

    /**
     * Computes the table.
     *
     * @param manager owns the tensors
     * @param config head size, base and stretching
     * @param length positions to cover
     * @return the table
     */
    public static RotaryTable create(PtNDManager manager, ModelConfig config, int length) {
        int half = config.headSize() / 2;
        double[] frequencies = config.rope().frequencies(config.headSize());
        float[] cos = new float[Math.multiplyExact(length, config.headSize())];
        float[] sin = new float[cos.length];
        for (int position = 0; position < length; position++) {
            for (int i = 0; i < half; i++) {
                double angle = position * frequencies[i];
                int at = position * config.headSize() + i;
                cos[at] = cos[at + half] = (float) Math.cos(angle);
                sin[at] = sin[at + half] = (float) Math.sin(angle);
            }
        }
        Shape shape = new Shape(length, config.headSize());
        return new RotaryTable(manager.create(cos, shape), manager.create(sin, shape), length);
    }
}
