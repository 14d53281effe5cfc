package io.bellows.run;

import io.bellows.cluster.Cluster;
import io.bellows.cluster.ExecutorMemory;
import io.bellows.config.BellowsConfig;
import io.bellows.config.InvalidConfigException;
import io.bellows.config.Purpose;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.SparkSession;

/** Holds the plan of a run against the memory that its executors have. */
public final class MemoryCheck {

    private static final long MIB = 1L << 20;
    private static final long OVERHEAD_UNIT = 128 * MIB;

    private final BellowsConfig config;
    private final Purpose purpose;
    private final int ranks;
    private final MemoryPlan plan;

    /**
     * Plans a run.
     *
     * @param config of the run
     * @param purpose what it is for
     * @param ranks of its updates
     */
    public MemoryCheck(BellowsConfig config, Purpose purpose, int ranks) {
        this.config = config;
        this.purpose = purpose;
        this.ranks = ranks;
        this.plan = MemoryPlan.of(config, purpose, ranks);
    }

    /**
     * Holds the plan of a run against the executors that are there.
     *
     * @return what to show of it, in one line
     * @throws InvalidConfigException if it cannot fit and {@code trainer.memory_plan} does not say {@code warn}
     */
    static String of(SparkSession spark, BellowsConfig config, Purpose purpose, Progress progress) {
        int ranks = Cluster.of(spark, config.trainer(), progress::message).ranks();
        MemoryCheck check = new MemoryCheck(config, purpose, ranks);
        Collection<ExecutorMemory> executors = ExecutorMemory.of(spark);
        SparkConf conf = spark.sparkContext().getConf();
        for (ExecutorMemory executor : executors) {
            int sharing = (int) executors.stream()
                    .filter(other -> other.host().equals(executor.host()))
                    .count();
            Optional<String> problem = check.problem(executor, conf, sharing);
            if (problem.isPresent() && config.trainer().memoryPlan().equals("refuse")) {
                throw new InvalidConfigException(List.of(problem.get()));
            }
            Optional<String> warning = problem.or(() -> check.tight(executor, conf, sharing));
            if (warning.isPresent()) {
                progress.message("Warning: " + warning.get());
                break;
            }
        }
        return MemoryPlan.text(check.plan.bytes()) + " beside the Java heap: " + check.plan.summary();
    }

    /**
     * Returns the plan.
     *
     * @return the plan of an executor
     */
    public MemoryPlan plan() {
        return plan;
    }

    /**
     * Advises on containers.
     *
     * @return the least {@code spark.executor.memoryOverhead}, such as {@code 2048m}
     */
    public String memoryOverhead() {
        return (plan.bytes() / OVERHEAD_UNIT + 1) * OVERHEAD_UNIT / MIB + "m";
    }

    /**
     * Holds the plan against an executor.
     *
     * @param executor what it has
     * @param conf of the application
     * @param sharing executors on its machine, itself among them
     * @return why it cannot fit, with numbers and what would help; nothing if it fits
     */
    public Optional<String> problem(ExecutorMemory executor, SparkConf conf, int sharing) {
        if (executor.heap() < plan.heap()) {
            return Optional.of("Cannot start: the largest tensor needs a Java heap of " + MemoryPlan.text(plan.heap())
                    + ", and executor " + executor.executor() + " has " + MemoryPlan.text(executor.heap())
                    + "; raise spark.executor.memory, or BELLOWS_HEAP with bin/bellows" + allTheSame());
        }
        if (executor.device() > 0 && plan.tensors() > executor.device()) {
            return Optional.of("Cannot start: executor " + executor.executor() + " needs "
                    + MemoryPlan.text(plan.tensors()) + " of its GPU's " + MemoryPlan.text(executor.device()) + " ("
                    + plan.summary() + "); " + remedies() + allTheSame());
        }
        long needed = plan.heap() + plan.process() + (executor.device() == 0 ? plan.tensors() : 0);
        long there = executor.limit(conf, sharing);
        return needed <= there
                ? Optional.empty()
                : Optional.of("Cannot start: executor " + executor.executor() + " needs at least "
                        + MemoryPlan.text(needed) + " and has " + share(executor, there, sharing) + " ("
                        + plan.summary() + ", Java heap at least " + MemoryPlan.text(plan.heap()) + "); " + remedies()
                        + more(conf) + allTheSame());
    }

    /**
     * Says that a run may come to take more than an executor has, when its Java heap grows as far as it may and the allocator keeps what
     * it may.
     *
     * @param executor what it has
     * @param conf of the application
     * @param sharing executors on its machine, itself among them
     * @return a warning with numbers; nothing where there is room enough
     */
    public Optional<String> tight(ExecutorMemory executor, SparkConf conf, int sharing) {
        long most = executor.heap() + (executor.device() == 0 ? plan.bytes() : plan.process());
        long there = executor.limit(conf, sharing);
        return most <= there
                ? Optional.empty()
                : Optional.of("executor " + executor.executor() + " may come to take " + MemoryPlan.text(most)
                        + ", its Java heap of " + MemoryPlan.text(executor.heap()) + " included, and has "
                        + share(executor, there, sharing) + "; " + remedies() + more(conf));
    }

    private static String share(ExecutorMemory executor, long there, int sharing) {
        return MemoryPlan.text(there)
                + (sharing > 1 ? ", its share of " + executor.host() + " with " + sharing + " executors" : "");
    }

    private String more(SparkConf conf) {
        return ExecutorMemory.hasContainers(conf.get("spark.master", ""))
                ? "; or set spark.executor.memoryOverhead=" + memoryOverhead()
                : "; or give it more memory";
    }

    private static String allTheSame() {
        return "; trainer.memory_plan=warn starts all the same";
    }

    /** Changes of the configuration that would save something worth it, with what they save. */
    private String remedies() {
        List<String> remedies = new ArrayList<>();
        saving("model.enable_gradient_checkpointing=true").ifPresent(remedies::add);
        int budget = config.actor().ppoMaxTokenLenPerGpu() / 2;
        if (budget >= config.maxSequenceLength()) {
            saving("actor.ppo_max_token_len_per_gpu=" + budget).ifPresent(remedies::add);
        }
        if (purpose != Purpose.SFT && config.rollout().maxNumSeqs() > 1) {
            saving("rollout.max_num_seqs=" + config.rollout().maxNumSeqs() / 2).ifPresent(remedies::add);
        }
        return remedies.isEmpty() ? "take a smaller model, or more executors" : String.join(", ", remedies);
    }

    private Optional<String> saving(String override) {
        try {
            long saved = plan.bytes()
                    - MemoryPlan.of(config.with(List.of(override)), purpose, ranks)
                            .bytes();
            return saved < plan.bytes() / 50
                    ? Optional.empty()
                    : Optional.of(override + " saves " + MemoryPlan.text(saved));
        } catch (InvalidConfigException e) {
            return Optional.empty(); // it does not go with other keys
        }
    }
}
