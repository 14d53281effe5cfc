package io.bellows.cluster;

import io.bellows.resident.ExecutorHost;
import java.io.IOException;
import java.io.Serializable;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;

/**
 * The memory that an executor has.
 *
 * @param executor its id
 * @param host its machine
 * @param total bytes of its container, or of the machine where there is none
 * @param heap bytes that its Java heap may grow to
 * @param device bytes of the GPU that Spark assigned to it; 0 where it computes on the CPU, -1 where they cannot be asked for
 */
public record ExecutorMemory(String executor, String host, long total, long heap, long device) implements Serializable {

    private static final int TASKS_PER_EXECUTOR = 2;
    private static final long MIB = 1L << 20;

    /**
     * Asks the executors; embedded there is only this process, which needs no job.
     *
     * @param spark the session
     * @return what each executor has that answered, at least one
     */
    public static Collection<ExecutorMemory> of(SparkSession spark) {
        int executors = spark.sparkContext().statusTracker().getExecutorInfos().length - 1;
        if (executors < 1) {
            return List.of(here());
        }
        int tasks = executors * TASKS_PER_EXECUTOR;
        Map<String, ExecutorMemory> byExecutor = new TreeMap<>();
        JavaSparkContext.fromSparkContext(spark.sparkContext())
                .parallelize(IntStream.range(0, tasks).boxed().toList(), tasks)
                .map(task -> here())
                .collect()
                .forEach(memory -> byExecutor.put(memory.executor, memory));
        return byExecutor.values();
    }

    /**
     * The memory of this process.
     *
     * @return its memory
     */
    public static ExecutorMemory here() {
        SparkEnv spark = SparkEnv.get();
        return new ExecutorMemory(
                spark == null ? "driver" : spark.executorId(),
                hostName(),
                totalMemory(),
                Runtime.getRuntime().maxMemory(),
                ExecutorHost.device().isGpu() ? deviceMemory(ExecutorHost.gpuAddress()) : 0);
    }

    /**
     * What the whole process may take.
     *
     * @param conf tells whether a resource manager ends what takes more than its container has
     * @param sharing executors on the same machine that have no container of their own, this one among them
     * @return bytes
     */
    public long limit(SparkConf conf, int sharing) {
        return hasContainers(conf.get("spark.master", "")) ? Math.min(total, heap + overhead(conf)) : total / sharing;
    }

    /**
     * Tells whether executors run in containers of a size that Spark asks for.
     *
     * @param master of the application
     * @return whether {@code spark.executor.memoryOverhead} is a limit
     */
    public static boolean hasContainers(String master) {
        return master.startsWith("yarn") || master.startsWith("k8s");
    }

    /** As Spark computes it from its configuration. */
    private static long overhead(SparkConf conf) {
        long heap = conf.getSizeAsBytes("spark.executor.memory", "1g");
        long factor = (long) (heap * conf.getDouble("spark.executor.memoryOverheadFactor", 0.1));
        long least = conf.getSizeAsBytes("spark.executor.minMemoryOverhead", "384m");
        String set = conf.get("spark.executor.memoryOverhead", null);
        return set == null ? Math.max(factor, least) : conf.getSizeAsMb("spark.executor.memoryOverhead") * MIB;
    }

    private static long totalMemory() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean system
                ? system.getTotalMemorySize()
                : Long.MAX_VALUE;
    }

    private static String hostName() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "unknown host";
        }
    }

    private static long deviceMemory(String address) {
        try {
            Process process = new ProcessBuilder(
                            "nvidia-smi", "-i", address, "--query-gpu=memory.total", "--format=csv,noheader,nounits")
                    .redirectErrorStream(true)
                    .start();
            process.getOutputStream().close();
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                return -1;
            }
            String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            return text.matches("\\d+") ? Long.parseLong(text) * MIB : -1;
        } catch (IOException e) {
            return -1; // no driver to ask
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return -1;
        }
    }
}
