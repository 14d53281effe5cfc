package io.bellows.jobs;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import io.bellows.run.FailureMessage;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** What {@code bellows doctor} looks at. A check that fails says so; none ends the others. */
final class Examination {

    /** How a check came out. */
    enum Status {
        /** Fine. */
        OK,
        /** Bellows runs, with less. */
        WARN,
        /** Bellows cannot run. */
        FAIL
    }

    /** One check: its name, how it came out, and what was seen or what to do. */
    record Finding(String name, Status status, String detail) {
        boolean failed() {
            return status == Status.FAIL;
        }
    }

    private static final int MATRIX = 512;
    private static final Duration GEMM_TIME = Duration.ofMillis(500);

    private final Path runDirectory;

    Examination(Path runDirectory) {
        this.runDirectory = runDirectory;
    }

    /** Runs every check. */
    List<Finding> findings() {
        List<Finding> findings = new ArrayList<>();
        findings.add(ok("versions", String.join(", ", new Version().getVersion())));
        findings.add(check("java", Status.FAIL, Examination::java));
        findings.add(ok("cores", Integer.toString(Runtime.getRuntime().availableProcessors())));
        findings.add(check("memory", Status.WARN, Examination::memory));
        findings.add(check("libtorch", Status.FAIL, Examination::libtorch));
        findings.add(check("sgemm", Status.WARN, Examination::sgemm));
        findings.add(check("gpu", Status.WARN, Examination::gpu));
        findings.add(check("fonts", Status.WARN, Examination::fonts));
        findings.add(check("run directory", Status.FAIL, () -> writable(runDirectory)));
        findings.add(
                check("temporary files", Status.FAIL, () -> writable(Path.of(System.getProperty("java.io.tmpdir")))));
        return findings;
    }

    private static Finding ok(String name, String detail) {
        return new Finding(name, Status.OK, detail);
    }

    private static Finding check(String name, Status otherwise, Callable<String> body) {
        try {
            return ok(name, body.call());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Finding(name, otherwise, "interrupted");
        } catch (Exception | LinkageError e) {
            return new Finding(name, otherwise, FailureMessage.of(e));
        }
    }

    private static String java() {
        return System.getProperty("java.vendor") + " " + Runtime.version() + ", " + System.getProperty("os.name") + " "
                + System.getProperty("os.arch");
    }

    private static String memory() {
        long heap = Runtime.getRuntime().maxMemory();
        if (ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean system) {
            return gigabytes(system.getTotalMemorySize()) + " in all, " + gigabytes(system.getFreeMemorySize())
                    + " free, Java heap up to " + gigabytes(heap) + " (BELLOWS_HEAP); tensors live outside of the heap";
        }
        return "Java heap up to " + gigabytes(heap);
    }

    private static String gigabytes(long bytes) {
        return String.format(Locale.ROOT, "%.1f GiB", bytes / (double) (1L << 30));
    }

    private static String libtorch() {
        Engine engine = Engine.getEngine("PyTorch");
        try (NDManager manager = engine.newBaseManager();
                NDArray a = manager.create(new float[] {1, 2, 3, 4}, new Shape(2, 2));
                NDArray product = a.matMul(a)) {
            float[] values = product.toFloatArray();
            if (values[0] != 7f || values[3] != 22f) {
                throw new IllegalStateException(
                        "Invalid product of two small matrices: this libtorch computes wrongly");
            }
            return engine.getVersion() + ", threads "
                    + System.getenv().getOrDefault("OMP_NUM_THREADS", "by its own choice") + " (BELLOWS_THREADS)";
        }
    }

    private static String sgemm() {
        try (NDManager manager = Engine.getEngine("PyTorch").newBaseManager();
                NDArray a = manager.ones(new Shape(MATRIX, MATRIX))) {
            a.matMul(a).close();
            long start = System.nanoTime();
            int products = 0;
            do {
                a.matMul(a).close();
                products++;
            } while (System.nanoTime() - start < GEMM_TIME.toNanos());
            double seconds = (System.nanoTime() - start) / 1e9;
            double flops = 2.0 * MATRIX * MATRIX * MATRIX * products;
            return String.format(Locale.ROOT, "%.1f GFLOP/s (%d x %d, float32)", flops / seconds / 1e9, MATRIX, MATRIX);
        }
    }

    private static String gpu() throws IOException, InterruptedException {
        int seen = Engine.getEngine("PyTorch").getGpuCount();
        List<String> installed = nvidiaSmi();
        if (installed.isEmpty()) {
            return "none: everything runs on the CPU";
        }
        if (seen == 0) {
            throw new IllegalStateException("Unsupported by this libtorch: " + String.join("; ", installed)
                    + ". Put a CUDA libtorch on BELLOWS_CLASSPATH or set PYTORCH_LIBRARY_PATH");
        }
        return seen + " usable: " + String.join("; ", installed);
    }

    private static List<String> nvidiaSmi() throws IOException, InterruptedException {
        Process process;
        try {
            process = new ProcessBuilder(
                            "nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader")
                    .redirectErrorStream(true)
                    .start();
        } catch (IOException e) {
            return List.of(); // no driver, no GPU
        }
        process.getOutputStream().close();
        if (!process.waitFor(10, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new IllegalStateException("Cannot ask nvidia-smi: no answer in 10 s; the driver may hang");
        }
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return process.exitValue() == 0 ? text.lines().toList() : List.of();
    }

    private static String fonts() throws IOException {
        Path chart = Files.createTempFile("bellows-chart", ".png");
        try {
            RunChart.write(chart, "fonts", List.of(Map.of("critic/rewards/mean", 0.5)));
            return "charts can be drawn";
        } finally {
            Files.deleteIfExists(chart);
        }
    }

    /** Writes and removes a file in the folder, or in the nearest one above it that exists. */
    private static String writable(Path folder) throws IOException {
        Path existing = folder.toAbsolutePath();
        while (!Files.exists(existing) && existing.getParent() != null) {
            existing = existing.getParent();
        }
        try {
            Files.delete(Files.createTempFile(existing, ".bellows", ".probe"));
        } catch (IOException e) {
            throw new IOException(
                    "Cannot write to " + existing + ": give another folder, or the rights to this one", e);
        }
        long free = Files.getFileStore(existing).getUsableSpace();
        return folder.toAbsolutePath().normalize() + " writable, " + gigabytes(free) + " free";
    }
}
