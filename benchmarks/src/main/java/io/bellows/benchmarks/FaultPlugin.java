package io.bellows.benchmarks;

import java.nio.file.Path;
import java.util.Map;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.TaskContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;

/** Lets executors meet with {@link ExecutorFault}s, without anything in Bellows that knows of them. Made by Spark. */
public final class FaultPlugin implements SparkPlugin {

    static final String FOLDER = "spark.bellows.benchmarks.faults";
    private static final int BETWEEN_LOOKS = 2;

    /** Called by Spark. */
    public FaultPlugin() {}

    @Override
    public DriverPlugin driverPlugin() {
        return null;
    }

    @Override
    public ExecutorPlugin executorPlugin() {
        return new Victim();
    }

    private static final class Victim implements ExecutorPlugin {

        private final ThreadLocal<Boolean> inBarrier = ThreadLocal.withInitial(() -> false);
        private Path folder;

        @Override
        public void init(PluginContext context, Map<String, String> extra) {
            folder = Path.of(context.conf().get(FOLDER));
            Thread watcher = new Thread(this::watch, "bellows-faults");
            watcher.setDaemon(true);
            watcher.start();
        }

        private void watch() {
            while (true) {
                ExecutorFault.armed(folder).filter(ExecutorFault::isDue).ifPresent(fault -> fault.strike(folder));
                try {
                    Thread.sleep(BETWEEN_LOOKS);
                } catch (InterruptedException e) {
                    return;
                }
            }
        }

        @Override
        public void onTaskStart() {
            inBarrier.set(TaskContext.get() instanceof BarrierTaskContext);
            strikeInBarrier(ExecutorFault.STUCK_BEFORE_UPDATE);
        }

        /** Spark calls this before it tells the driver. */
        @Override
        public void onTaskSucceeded() {
            strikeInBarrier(ExecutorFault.KILLED_AFTER_UPDATE);
        }

        private void strikeInBarrier(ExecutorFault fault) {
            if (inBarrier.get()) {
                ExecutorFault.armed(folder).filter(fault::equals).ifPresent(due -> due.strike(folder));
            }
        }
    }
}
