package io.bellows.jobs;

import io.bellows.run.PosixFileSystem;
import io.bellows.udfs.BellowsExtensions;
import java.io.File;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.SparkSession;

/** Opens the Spark session: embedded in this process, or on the cluster that spark-submit chose. */
final class Session {

    private Session() {}

    /**
     * A session. What spark-submit was given wins over {@code configured}, which wins over our defaults; the defaults of the
     * embedded mode (all cores, loopback, no user interface) hold only where no master is given by spark-submit.
     *
     * @param name shown in Spark's user interface
     * @param configured properties of the run's configuration, names starting with {@code spark.}
     */
    static SparkSession open(String name, Map<String, String> configured) {
        SparkSession.Builder builder = SparkSession.builder().appName("bellows " + name);
        properties(configured).forEach(builder::config);
        return builder.getOrCreate();
    }

    /** What is set here, without what spark-submit has set already. */
    static Map<String, String> properties(Map<String, String> configured) {
        Map<String, String> properties = new TreeMap<>(everywhere());
        if (System.getProperty("spark.master") == null) {
            properties.putAll(embedded());
        }
        properties.putAll(configured);
        properties.keySet().removeIf(key -> System.getProperty(key) != null);
        return properties;
    }

    private static Map<String, String> everywhere() {
        return Map.ofEntries(
                // One engine per executor: waiting for a local slot only leaves another engine idle.
                Map.entry("spark.locality.wait", "0s"),
                // A lost executor must never mix two generations of a rollout: abort instead.
                Map.entry("spark.sql.shuffle.orderIndependentChecksum.enabled", "true"),
                Map.entry("spark.sql.shuffle.orderIndependentChecksum.enableFullRetryOnMismatch", "true"),
                // Ranks and tasks are counted from the executors there are, so all of them first.
                Map.entry("spark.scheduler.minRegisteredResourcesRatio", "1.0"),
                Map.entry("spark.scheduler.maxRegisteredResourcesWaitingTime", "120s"),
                // Spark waits ten minutes for the slots of a barrier stage, and a year for its tasks.
                Map.entry("spark.scheduler.barrier.maxConcurrentTasksCheck.interval", "5s"),
                Map.entry("spark.scheduler.barrier.maxConcurrentTasksCheck.maxFailures", "24"),
                Map.entry("spark.barrier.sync.timeout", "600s"),
                // A rank whose thread never ends would keep its slot, and the next attempt waits for that slot for
                // ever.
                Map.entry("spark.task.reaper.enabled", "true"),
                Map.entry("spark.task.reaper.killTimeout", "120s"),
                // The code that Spark generates for an iteration is more than it keeps by default, and would be
                // compiled
                // anew each time.
                Map.entry("spark.sql.codegen.cache.maxEntries", "2000"),
                Map.entry("spark.sql.session.timeZone", "UTC"),
                Map.entry("spark.sql.extensions", BellowsExtensions.class.getName()),
                Map.entry("spark.ui.showConsoleProgress", "false"));
    }

    private static Map<String, String> embedded() {
        // Spark makes this folder for tables that nobody here creates; it is empty when it goes.
        File warehouse = new File(
                System.getProperty("java.io.tmpdir"),
                "bellows-warehouse-" + ProcessHandle.current().pid());
        warehouse.deleteOnExit();
        return Map.of(
                "spark.master",
                "local[*]",
                // Plans that adapt run each shuffle as a job of its own; here all partitions are few and small.
                "spark.sql.adaptive.enabled",
                "false",
                "spark.ui.enabled",
                "false",
                // Not where spark-submit looks for files before it knows this class.
                PosixFileSystem.SETTING,
                PosixFileSystem.class.getName(),
                "spark.driver.host",
                "127.0.0.1",
                "spark.driver.bindAddress",
                "127.0.0.1",
                "spark.sql.shuffle.partitions",
                Integer.toString(Math.max(2, Runtime.getRuntime().availableProcessors())),
                "spark.sql.warehouse.dir",
                warehouse.getPath());
    }
}
