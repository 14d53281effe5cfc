package io.bellows.benchmarks;

import java.lang.management.ManagementFactory;

/**
 * A stretch of time.
 *
 * @param seconds on the wall
 * @param cpuSeconds on the calling thread: with one native thread, the work itself, however busy the machine is
 */
record Stopwatch(double seconds, double cpuSeconds) {

    static Stopwatch start() {
        return new Stopwatch(
                System.nanoTime() / 1e9, ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() / 1e9);
    }

    Stopwatch stop() {
        Stopwatch now = start();
        return new Stopwatch(now.seconds - seconds, now.cpuSeconds - cpuSeconds);
    }
}
