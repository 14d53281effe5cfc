package io.bellows.benchmarks;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Arrays;
import java.util.function.ToDoubleFunction;

/**
 * Work that was timed, between matrix products that were timed too.
 *
 * @param times of the work
 * @param products of {@link Machine#sgemm()}, before the first and after each
 */
record Rate(Stopwatch[] times, Stopwatch[] products) {

    /** A rate with room for some rounds. */
    static Rate ofRounds(int rounds) {
        return new Rate(new Stopwatch[rounds], new Stopwatch[rounds + 1]);
    }

    double seconds() {
        return median(times, Stopwatch::seconds);
    }

    /** Of the product, in 1e9 floating-point operations a second. */
    double sgemmGflops() {
        return Machine.sgemmFlops() / median(products, Stopwatch::seconds) / 1e9;
    }

    /**
     * Adds the work's rate and its share of the product's.
     *
     * @param flops floating-point operations of the work
     * @param threads native threads: the processor time of the calling thread means something with one only
     */
    void put(ObjectNode result, double flops, int threads) {
        double gflops = flops / seconds() / 1e9;
        double cpu = median(products, Stopwatch::cpuSeconds)
                / Machine.sgemmFlops()
                * flops
                / median(times, Stopwatch::cpuSeconds);
        result.put("seconds", seconds())
                .put("gflops", gflops)
                .put("sgemm_gflops", sgemmGflops())
                .put("share_of_sgemm", gflops / sgemmGflops())
                .put("share_of_sgemm_by_cpu_time", threads == 1 ? cpu : Double.NaN);
    }

    private static double median(Stopwatch[] times, ToDoubleFunction<Stopwatch> of) {
        return Machine.median(Arrays.stream(times).mapToDouble(of).toArray());
    }
}
