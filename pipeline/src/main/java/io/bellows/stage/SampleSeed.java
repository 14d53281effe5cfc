package io.bellows.stage;

import io.bellows.env.ModelRequest;
import io.bellows.trajectory.TrajectoryKey;

/** The seed of a sample: a function of what the sample is, never of partition, attempt or time. */
final class SampleSeed {

    private SampleSeed() {}

    /** The seed of a turn. */
    static long of(long runSeed, long iteration, ModelRequest request) {
        int sample = request.trajectory().sampleIndex();
        boolean baseline = sample == TrajectoryKey.GREEDY_BASELINE;
        return of(runSeed, iteration, request.trajectory().position(), baseline ? 0 : sample, request.turn());
    }

    static long of(long runSeed, long iteration, long position, long sampleIndex, long turn) {
        long seed = runSeed;
        for (long part : new long[] {iteration, position, sampleIndex, turn}) {
            seed = mixed(seed ^ (part * 0x9E3779B97F4A7C15L + 0xD1B54A32D192ED03L));
        }
        return seed;
    }

    /** The finalizer of SplitMix64, a bijection in which every bit depends on every other. */
    private static long mixed(long z) {
        long a = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        long b = (a ^ (a >>> 27)) * 0x94D049BB133111EBL;
        return b ^ (b >>> 31);
    }
}
