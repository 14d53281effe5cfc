package io.bellows.run;

import io.bellows.config.BellowsConfig;
import io.bellows.config.CriticConfig;
import io.bellows.config.MicroBatchLimit;
import io.bellows.config.Purpose;
import io.bellows.model.Activations;
import io.bellows.model.ComputeType;
import io.bellows.model.Head;
import io.bellows.model.ModelConfig;
import io.bellows.model.ModelMemory;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * What a run takes of an executor's memory beside the Java heap, computed before it starts.
 *
 * @param parts bytes by what takes them; what stages take one after the other is there once, for the stage that takes most, in the
 *     largest micro-batch that can occur
 * @param kept what the allocator may keep of that in pieces which no later tensor fits
 * @param process what Java and libtorch take before the first tensor
 * @param heap what the Java heap must hold at once: the largest tensor in fp32, and what it is written as
 */
public record MemoryPlan(Map<String, Long> parts, long kept, long process, long heap) {

    private static final long MIB = 1L << 20;

    /** Libraries, compiled code and threads; measured as what is left of small runs. */
    private static final long PROCESS = 500 * MIB;

    /** What the driver's and executor's own objects take of the heap. */
    private static final long HEAP_FOR_SPARK = 300 * MIB;

    /**
     * Plans a run.
     *
     * @param config of the run
     * @param purpose what it is for
     * @param ranks of its updates
     * @return the plan of an executor
     */
    public static MemoryPlan of(BellowsConfig config, Purpose purpose, int ranks) {
        int length = config.maxSequenceLength();
        if (purpose == Purpose.SFT) {
            long rows = share(config.data().trainBatchSize(), ranks);
            return training(policy(config), ranks, tokens(config.sftLimit(), rows, length));
        }
        Reinforcement reinforcement = new Reinforcement(config, ranks);
        return purpose == Purpose.EVAL ? reinforcement.evaluation() : reinforcement.plan();
    }

    /**
     * Plans the training of one model that does nothing else.
     *
     * @param model the model
     * @param ranks of the update
     * @param tokens of the largest micro-batch
     * @return the plan of an executor
     */
    public static MemoryPlan training(ModelMemory model, int ranks, long tokens) {
        Map<String, Long> parts = new LinkedHashMap<>();
        parts.put("weights", model.weights());
        parts.put("gradients and optimizer", model.gradients() + model.moments(ranks));
        return withStages(parts, Map.of("update", model.trainingPass(tokens)), model.largestTensor());
    }

    /**
     * Sums up what is beside the heap when the allocator keeps what it may.
     *
     * @return bytes
     */
    public long bytes() {
        return tensors() + kept + process;
    }

    /**
     * Sums up the tensors, which are on the GPU where there is one.
     *
     * @return bytes
     */
    public long tensors() {
        return parts.values().stream().mapToLong(Long::longValue).sum();
    }

    /**
     * Says what takes how much.
     *
     * @return the parts in one line
     */
    public String summary() {
        return parts.entrySet().stream()
                .map(part -> part.getKey() + " " + text(part.getValue()))
                .collect(Collectors.joining(
                        ", ",
                        "",
                        ", kept by the allocator up to " + text(kept) + ", Java and libtorch " + text(process)));
    }

    /**
     * Writes a number of bytes.
     *
     * @param bytes the number
     * @return as MiB or GiB
     */
    public static String text(long bytes) {
        return Math.abs(bytes) < 1000 * MIB
                ? Math.round(bytes / (double) MIB) + " MiB"
                : String.format(Locale.ROOT, "%.1f GiB", bytes / (double) (1L << 30));
    }

    /** Stages come one after the other; the allocator was seen to keep as much again of what they give back. */
    private static MemoryPlan withStages(Map<String, Long> standing, Map<String, Long> stages, long largestTensor) {
        Map<String, Long> parts = new LinkedHashMap<>(standing);
        Map.Entry<String, Long> most =
                stages.entrySet().stream().max(Map.Entry.comparingByValue()).orElseThrow();
        parts.put(most.getKey(), most.getValue());
        return new MemoryPlan(
                Collections.unmodifiableMap(parts), most.getValue(), PROCESS, 2 * largestTensor + HEAP_FOR_SPARK);
    }

    private static ModelMemory policy(BellowsConfig config) {
        String initial = config.model().initConfig();
        ModelConfig shape = initial == null
                ? ModelConfig.read(Path.of(config.model().path()))
                : ModelConfig.parse(Path.of(initial));
        return memory(config, shape, Head.TOKENS);
    }

    private static ModelMemory memory(BellowsConfig config, ModelConfig shape, Head head) {
        return new ModelMemory(
                shape,
                head,
                ComputeType.named(config.model().dtype()),
                config.model().enableGradientCheckpointing() ? Activations.RECOMPUTE : Activations.KEEP);
    }

    /** Tokens of the largest micro-batch that can occur: no more than its limit, and no more than there are rows. */
    private static long tokens(MicroBatchLimit limit, long rows, int length) {
        long most = limit.maxTokens() == null ? (long) limit.rows() * length : limit.maxTokens();
        return Math.min(most, rows * length);
    }

    private static long share(long rows, int ranks) {
        return (rows + ranks - 1) / ranks;
    }

    /** The plan of reinforcement learning. */
    private record Reinforcement(BellowsConfig config, int ranks) {

        MemoryPlan plan() {
            ModelMemory policy = policy(config);
            ModelMemory critic = config.usesCritic()
                    ? memory(config, ModelConfig.read(Path.of(config.criticPath())), Head.VALUE)
                    : null;
            ModelMemory rewardModel = rewardModel();
            Map<String, Long> standing = new LinkedHashMap<>();
            standing.put("policy", policy.weights());
            standing.put("its gradients and optimizer", policy.gradients() + policy.moments(ranks));
            if (config.usesReference()) {
                standing.put("reference policy", policy.weights());
            }
            if (critic != null) {
                standing.put("critic", critic.weights());
                standing.put("critic's gradients and optimizer", critic.gradients() + critic.moments(ranks));
            }
            if (rewardModel != null) {
                standing.put("reward model", rewardModel.weights());
            }
            standing.put("KV cache", policy.cache(config.rollout().maxNumSeqs(), config.maxSequenceLength()));
            long largest = LongStream.of(
                            policy.largestTensor(),
                            critic == null ? 0 : critic.largestTensor(),
                            rewardModel == null ? 0 : rewardModel.largestTensor())
                    .max()
                    .orElseThrow();
            Map<String, Long> stages = stages(policy, critic);
            if (rewardModel != null) {
                long tokens = tokens(config.rewardModelLimit(), config.data().trainBatchSize());
                stages.put("reward model's scores", rewardModel.score(tokens));
            }
            return withStages(standing, stages, largest);
        }

        /** What answers and judges, and learns nothing. */
        MemoryPlan evaluation() {
            ModelMemory policy = policy(config);
            ModelMemory rewardModel = rewardModel();
            Map<String, Long> standing = new LinkedHashMap<>();
            standing.put("policy", policy.weights());
            standing.put("KV cache", policy.cache(config.rollout().maxNumSeqs(), config.maxSequenceLength()));
            Map<String, Long> stages = new LinkedHashMap<>();
            stages.put("rollout", rollout(policy));
            long largest = policy.largestTensor();
            if (rewardModel != null) {
                standing.put("reward model", rewardModel.weights());
                long tokens =
                        MemoryPlan.tokens(config.rewardModelLimit(), Integer.MAX_VALUE, config.maxSequenceLength());
                stages.put("reward model's scores", rewardModel.score(tokens));
                largest = Math.max(largest, rewardModel.largestTensor());
            }
            return withStages(standing, stages, largest);
        }

        private ModelMemory rewardModel() {
            if (!config.rewardModel().enable()) {
                return null;
            }
            Path folder = Path.of(config.rewardModel().model().path());
            return memory(config, ModelConfig.read(folder), Head.SCORE);
        }

        private long rollout(ModelMemory policy) {
            int slots = config.rollout().maxNumSeqs();
            long prefill = Math.min(
                    config.rollout().maxNumBatchedTokens(),
                    (long) slots * config.data().maxPromptLength());
            return policy.step(slots, prefill);
        }

        private Map<String, Long> stages(ModelMemory policy, ModelMemory critic) {
            long batch = config.data().trainBatchSize();
            long miniBatch = config.actor().ppoMiniBatchSize();
            Map<String, Long> stages = new LinkedHashMap<>();
            stages.put("rollout", rollout(policy));
            stages.put("log-probs", policy.score(tokens(config.oldLogProbLimit(), batch)));
            if (config.usesReference()) {
                stages.put("reference log-probs", policy.score(tokens(config.refLogProbLimit(), batch)));
            }
            stages.put("update", policy.trainingPass(tokens(config.actorUpdateLimit(), miniBatch)));
            if (critic != null) {
                CriticConfig section = config.critic();
                long own = section.ppoMiniBatchSize() == null ? miniBatch : section.ppoMiniBatchSize();
                stages.put("values", critic.score(tokens(config.valuesLimit(), batch)));
                stages.put("critic's update", critic.trainingPass(tokens(config.criticUpdateLimit(), own)));
            }
            return stages;
        }

        private long tokens(MicroBatchLimit limit, long prompts) {
            long rows = share(prompts * config.rollout().n(), ranks);
            return MemoryPlan.tokens(limit, rows, config.maxSequenceLength());
        }
    }
}
