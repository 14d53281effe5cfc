package io.bellows.cluster;

import io.bellows.config.InvalidConfigException;
import io.bellows.config.TrainerConfig;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.SparkSession;

/**
 * The executors of the application: they decide how many ranks an update has and how many tasks a rollout. Asked anew whenever that is
 * decided, since executors come and go.
 */
public final class Cluster {

    private static final Pattern LOCAL_CLUSTER = Pattern.compile("local-cluster\\[\\s*\\d+\\s*,\\s*(\\d+)\\s*,.*");
    private static final int MOST_TASKS_PER_EXECUTOR = 4;
    private static final String REGISTRATION_TIME = "spark.scheduler.maxRegisteredResourcesWaitingTime";

    private final SparkSession spark;
    private final TrainerConfig trainer;
    private final ExecutorWait wait;

    private Cluster(SparkSession spark, TrainerConfig trainer, ExecutorWait wait) {
        this.spark = spark;
        this.trainer = trainer;
        this.wait = wait;
    }

    /**
     * Looks at an application.
     *
     * @param spark its session
     * @param trainer may set the number of ranks
     * @param message told what is waited for
     * @return its cluster
     */
    public static Cluster of(SparkSession spark, TrainerConfig trainer, Consumer<String> message) {
        Duration patience = patience(spark.sparkContext().getConf());
        return new Cluster(spark, trainer, new ExecutorWait(patience, time -> Thread.sleep(time.toMillis()), message));
    }

    /** As long as Spark waits for executors before the first stage; where the driver is all there is, none will come. */
    static Duration patience(SparkConf conf) {
        return isEmbedded(conf.get("spark.master", ""))
                ? Duration.ZERO
                : Duration.ofSeconds(conf.getTimeAsSeconds(REGISTRATION_TIME, "120s"));
    }

    /**
     * Makes sure that a run can work on an application, before the first task, which might wait for ever.
     *
     * @param spark its session
     * @throws InvalidConfigException naming each property that Bellows cannot work with
     */
    public static void requireUsable(SparkSession spark) {
        List<String> errors = errors(spark.sparkContext().getConf());
        if (!errors.isEmpty()) {
            throw new InvalidConfigException(errors);
        }
    }

    static List<String> errors(SparkConf conf) {
        List<String> errors = new ArrayList<>();
        String master = conf.get("spark.master", "");
        if (isEmbedded(master) && asksForGpu(conf)) {
            errors.add("Unsupported spark.task.resource.gpu.amount = " + conf.get("spark.task.resource.gpu.amount")
                    + " with spark.master = " + master + ": Spark cannot assign GPUs there, and tasks would wait for"
                    + " ever; use a cluster (bin/bellows-cluster starts one on this machine), or remove the property");
        }
        if (conf.getBoolean("spark.dynamicAllocation.enabled", false)) {
            errors.add("Unsupported spark.dynamicAllocation.enabled = true: the update is a barrier stage, which Spark"
                    + " refuses with it; set it to false and spark.executor.instances to a number");
        }
        if (conf.getBoolean("spark.speculation", false)) {
            errors.add("Unsupported spark.speculation = true: a rollout would be generated twice; set it to false");
        }
        return errors;
    }

    /**
     * Returns the executors that are there, without the driver.
     *
     * @return 0 where the driver is all there is
     */
    public int executors() {
        return spark.sparkContext().statusTracker().getExecutorInfos().length - 1;
    }

    /**
     * Returns the ranks of an update: {@code trainer.nnodes} times {@code trainer.n_gpus_per_node}, or one per executor. Waits where a set
     * number is more than there are executors, since one that died may be about to be replaced.
     *
     * @return at least 1
     * @throws InvalidConfigException if there are still too few after {@code spark.scheduler.maxRegisteredResourcesWaitingTime}
     */
    public int ranks() {
        if (trainer.ranks() == null) {
            return Math.max(1, executors());
        }
        int executors = wait.await(trainer.ranks(), () -> Math.max(1, executors()));
        if (trainer.ranks() > executors) {
            throw new InvalidConfigException(List.of("Invalid trainer.n_gpus_per_node = " + trainer.nGpusPerNode()
                    + ": with trainer.nnodes = " + trainer.nnodes() + " the update has " + trainer.ranks()
                    + " ranks, one per executor, and there are " + executors + " executors after "
                    + wait.patience().toSeconds() + " s; lower it, or give the application more executors"
                    + " (spark.executor.instances; on standalone spark.cores.max), or more time ("
                    + REGISTRATION_TIME + ")"));
        }
        return trainer.ranks();
    }

    /**
     * Returns the tasks of a rollout. Small tasks spread long tails; too small ones leave the engines short of work, so each has as
     * many trajectories as an engine decodes at once, and no executor has more than a few.
     *
     * @param trajectories of the rollout
     * @param slots {@code rollout.max_num_seqs}
     * @return at least 1, and at least one per executor
     */
    public int rolloutTasks(long trajectories, int slots) {
        return rolloutTasks(executors(), trajectories, slots);
    }

    static int rolloutTasks(int executors, long trajectories, int slots) {
        if (executors <= 1) {
            return 1; // one engine has nobody to share with
        }
        long full = trajectories / slots;
        return (int) Math.max(executors, Math.min((long) executors * MOST_TASKS_PER_EXECUTOR, full));
    }

    static boolean asksForGpu(SparkConf conf) {
        return conf.getDouble("spark.task.resource.gpu.amount", 0) > 0;
    }

    private static boolean isEmbedded(String master) {
        return master.equals("local") || master.startsWith("local[");
    }

    /** The cores of an executor, or 0 where they are not configured. */
    static int coresPerExecutor(SparkConf conf) {
        int configured = conf.getInt("spark.executor.cores", 0);
        Matcher localCluster = LOCAL_CLUSTER.matcher(conf.get("spark.master", ""));
        return configured == 0 && localCluster.matches() ? Integer.parseInt(localCluster.group(1)) : configured;
    }
}
