package io.bellows.tool;

import java.io.Serializable;
import java.time.Duration;

/**
 * What bounds the calls of tools.
 *
 * @param timeout the longest that one call, one set-up or one reward may take
 * @param releaseTimeout the longest that releasing one tool may take
 * @param maxResponseTokens the most tokens of an answer, the mark of a truncation included, 8 or more
 * @param truncation which part of a longer answer goes
 * @param maxParallelCalls how many calls of a turn run at once, 1 or more; the others wait
 * @param maxAbandoned how many calls that outlived their limit and do not react to interruption may go on in the background, 1 or
 *     more; beyond it no call begins
 */
public record ToolLimits(
        Duration timeout,
        Duration releaseTimeout,
        int maxResponseTokens,
        Truncation truncation,
        int maxParallelCalls,
        int maxAbandoned)
        implements Serializable {

    /** Which part of a long answer is dropped. */
    public enum Truncation {
        /** The beginning; the end is kept. */
        LEFT,
        /** The end; the beginning is kept. */
        RIGHT,
        /** The middle; half of the room each for beginning and end. */
        MIDDLE
    }

    /** Checks the ranges. */
    public ToolLimits {
        positive("timeout", timeout);
        positive("release timeout", releaseTimeout);
        atLeast(8, "maximum of tokens of a tool's answer", maxResponseTokens);
        atLeast(1, "maximum of parallel calls", maxParallelCalls);
        atLeast(1, "maximum of abandoned calls", maxAbandoned);
    }

    /** 30 seconds a call, 5 a release, 256 tokens without the middle, one call at a time, 64 abandoned ones. */
    public static ToolLimits defaults() {
        return new ToolLimits(Duration.ofSeconds(30), Duration.ofSeconds(5), 256, Truncation.MIDDLE, 1, 64);
    }

    private static void positive(String what, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw new IllegalArgumentException("Invalid " + what + " " + value + ": expected more than nothing");
        }
    }

    private static void atLeast(int least, String what, int value) {
        if (value < least) {
            throw new IllegalArgumentException("Invalid " + what + " " + value + ": expected " + least + " or more");
        }
    }
}
