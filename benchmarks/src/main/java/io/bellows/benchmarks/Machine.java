package io.bellows.benchmarks;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.pytorch.engine.PtNDManager;
import io.bellows.model.Kernels;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** What this machine does at the moment, to hold results against. */
final class Machine implements AutoCloseable {

    private static final int SIDE = 2048;

    private final PtNDManager manager;
    private final NDArray left;
    private final NDArray right;

    Machine(Kernels kernels) {
        this.manager = kernels.newManager();
        this.left = manager.randomNormal(new Shape(SIDE, SIDE));
        this.right = manager.randomNormal(new Shape(SIDE, SIDE));
    }

    /** The time of one product of two 2048 x 2048 fp32 matrices. */
    Stopwatch sgemm() {
        Stopwatch watch = Stopwatch.start();
        left.matMul(right).close();
        return watch.stop();
    }

    /** Floating-point operations of {@link #sgemm()}. */
    static double sgemmFlops() {
        return 2.0 * SIDE * SIDE * SIDE;
    }

    /** Resident memory of this process in MB: now ({@code VmRSS}) or at its highest ({@code VmHWM}). */
    static long megabytes(String field) {
        try {
            return Files.readAllLines(Path.of("/proc/self/status")).stream()
                    .filter(line -> line.startsWith(field + ":"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) / 1024)
                    .findFirst()
                    .orElse(-1);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read /proc/self/status: this benchmark needs Linux", e);
        }
    }

    static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    @Override
    public void close() {
        manager.close();
    }
}
