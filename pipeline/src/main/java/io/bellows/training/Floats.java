package io.bellows.training;

import java.util.List;

/** Losses are computed in double precision, models run in single. */
final class Floats {

    private Floats() {}

    static float[] of(double[] values) {
        float[] floats = new float[values.length];
        for (int i = 0; i < values.length; i++) {
            floats[i] = (float) values[i];
        }
        return floats;
    }

    static double[] widened(float[] values) {
        double[] wide = new double[values.length];
        for (int i = 0; i < values.length; i++) {
            wide[i] = values[i];
        }
        return wide;
    }

    /** The arrays one after the other. */
    static float[] joined(List<float[]> parts) {
        float[] all = new float[parts.stream().mapToInt(part -> part.length).sum()];
        int at = 0;
        for (float[] part : parts) {
            System.arraycopy(part, 0, all, at, part.length);
            at += part.length;
        }
        return all;
    }
}
