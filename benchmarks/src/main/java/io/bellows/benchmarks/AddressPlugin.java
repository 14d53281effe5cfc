package io.bellows.benchmarks;

import io.bellows.resident.ExecutorHost;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;

/** Notes which GPU address each rollout task of each executor was given, as empty files {@code EXECUTOR:ADDRESS}. Made by Spark. */
public final class AddressPlugin implements SparkPlugin {

    static final String FOLDER = "spark.bellows.benchmarks.addresses";

    /** Called by Spark. */
    public AddressPlugin() {}

    @Override
    public DriverPlugin driverPlugin() {
        return null;
    }

    @Override
    public ExecutorPlugin executorPlugin() {
        return new ExecutorPlugin() {
            private Path folder;

            @Override
            public void init(PluginContext context, Map<String, String> extra) {
                folder = Path.of(context.conf().get(FOLDER));
            }

            @Override
            public void onTaskStart() {
                String job = TaskContext.get().getLocalProperty("spark.job.description");
                if (job != null && job.endsWith(" trajectories")) {
                    note(folder.resolve(SparkEnv.get().executorId() + ":" + ExecutorHost.gpuAddress()));
                }
            }
        };
    }

    private static void note(Path file) {
        try {
            Files.write(file, new byte[0]);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot note the address of a task in " + file, e);
        }
    }
}
