package io.bellows.training;

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
}
