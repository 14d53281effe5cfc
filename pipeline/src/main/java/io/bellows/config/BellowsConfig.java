package io.bellows.config;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedSet;

/**
 * The whole configuration of a run, resolved: every key has its value. Immutable and Java-serializable. Keys carry verl's
 * names without the {@code actor_rollout_ref.} prefix.
 *
 * @param data datasets and batch sizes
 * @param model the folder to start from
 * @param rollout generation
 * @param algorithm advantages
 * @param actor the policy's loss and optimizer
 * @param critic the critic's loss and optimizer
 * @param ref the reference policy
 * @param reward reward functions
 * @param rewardModel the model that one of them asks
 * @param sft what only supervised fine-tuning reads
 * @param trainer length, validation, checkpoints, place of the run
 * @param spark Spark properties of the session
 */
public record BellowsConfig(
        DataConfig data,
        ModelSection model,
        RolloutConfig rollout,
        AlgorithmConfig algorithm,
        ActorConfig actor,
        CriticConfig critic,
        RefConfig ref,
        RewardConfig reward,
        RewardModelConfig rewardModel,
        SftConfig sft,
        TrainerConfig trainer,
        SparkSection spark)
        implements java.io.Serializable {

    /**
     * Loads a configuration for {@link Purpose#TRAIN}.
     *
     * @param yaml the file, or null for the defaults alone
     * @param overrides {@code key=value} pairs, the value being YAML; later ones win, all win over the file
     * @throws InvalidConfigException naming every error at once
     */
    public static BellowsConfig load(Path yaml, List<String> overrides) {
        return load(yaml, overrides, Purpose.TRAIN);
    }

    /** Loads a configuration and checks the rules of {@code purpose}; otherwise as {@link #load(Path, List)}. */
    public static BellowsConfig load(Path yaml, List<String> overrides, Purpose purpose) {
        return ConfigSource.load(yaml, overrides, purpose);
    }

    /**
     * Reads back what {@link #resolved()} wrote. Keys this version does not know are errors; keys it added take their
     * default. Files are not looked for and rules not checked again.
     *
     * @throws InvalidConfigException when {@code resolved} does not fit this version
     */
    public static BellowsConfig fromResolved(JsonNode resolved) {
        return ConfigSource.fromResolved(resolved);
    }

    /**
     * Returns this configuration with other values, checked as {@link #load(Path, List)} checks it.
     *
     * @param overrides {@code key=value} pairs, the value being YAML; later ones win
     * @throws InvalidConfigException naming every error at once
     */
    public BellowsConfig with(List<String> overrides) {
        return ConfigSource.change(resolved(), overrides);
    }

    /** Every key with its default and meaning, in the order of the records. */
    public static List<Key> keys() {
        return Key.all(BellowsConfig.class);
    }

    /** Every key with its value, as nested objects in the order of the records. */
    public ObjectNode resolved() {
        return ConfigJson.write(this);
    }

    /** SHA-256, in hexadecimal, of the values of all keys that a resumed run must share. */
    public String hash() {
        return ConfigJson.hash(this);
    }

    /**
     * What a run started with this configuration may not change and {@code other} changes.
     *
     * @return one line per key, empty when the run may continue with {@code other}
     */
    public List<String> differencesOnResume(BellowsConfig other) {
        return ConfigJson.fixedDifferences(this, other);
    }

    /** The names of all keys, Spark's aside, that {@code other} has another value of, in order. */
    public SortedSet<String> keysThatDiffer(BellowsConfig other) {
        return ConfigJson.keysThatDiffer(this, other);
    }

    /** Whether the log-probs of a reference policy are needed: for a KL loss, or for a KL penalty in the reward. */
    public boolean usesReference() {
        return actor.useKlLoss() || algorithm.useKlInReward();
    }

    /** Every reward function of the run, overlong shaping included. */
    public List<RewardConfig.Function> rewardFunctions() {
        return reward.allFunctions(data.maxResponseLength());
    }

    /** {@code data.seed}, or {@code trainer.seed} where it is absent. */
    public long dataSeed() {
        return data.seed() == null ? trainer.seed() : data.seed();
    }

    /** Whether a critic is trained and its values are recorded. */
    public boolean usesCritic() {
        return critic.enable() == null ? algorithm.advEstimator().equals("gae") : critic.enable();
    }

    /** {@code critic.model.path}, or {@code model.path} where it is absent. */
    public String criticPath() {
        return critic.model().path() == null ? model.path() : critic.model().path();
    }

    /** Micro-batches of the policy's update. */
    public MicroBatchLimit actorUpdateLimit() {
        return limit(actor.useDynamicBsz(), actor.ppoMaxTokenLenPerGpu(), actor.ppoMicroBatchSizePerGpu());
    }

    /** Micro-batches of the policy's log-probs before its update. */
    public MicroBatchLimit oldLogProbLimit() {
        return limit(
                either(rollout.logProbUseDynamicBsz(), actor.useDynamicBsz()),
                either(rollout.logProbMaxTokenLenPerGpu(), actor.ppoMaxTokenLenPerGpu()),
                either(rollout.logProbMicroBatchSizePerGpu(), actor.ppoMicroBatchSizePerGpu()));
    }

    /** Micro-batches of the reference policy's log-probs. */
    public MicroBatchLimit refLogProbLimit() {
        return limit(
                either(ref.logProbUseDynamicBsz(), actor.useDynamicBsz()),
                either(ref.logProbMaxTokenLenPerGpu(), actor.ppoMaxTokenLenPerGpu()),
                either(ref.logProbMicroBatchSizePerGpu(), actor.ppoMicroBatchSizePerGpu()));
    }

    /** Micro-batches of the reward model's scores. */
    public MicroBatchLimit rewardModelLimit() {
        return limit(
                either(rewardModel.useDynamicBsz(), actor.useDynamicBsz()),
                either(rewardModel.forwardMaxTokenLenPerGpu(), actor.ppoMaxTokenLenPerGpu()),
                either(rewardModel.microBatchSizePerGpu(), actor.ppoMicroBatchSizePerGpu()));
    }

    /** Micro-batches of the critic's update. */
    public MicroBatchLimit criticUpdateLimit() {
        return limit(
                either(critic.useDynamicBsz(), actor.useDynamicBsz()),
                critic.ppoMaxTokenLenPerGpu(),
                either(critic.ppoMicroBatchSizePerGpu(), actor.ppoMicroBatchSizePerGpu()));
    }

    /** Micro-batches of the critic's values. */
    public MicroBatchLimit valuesLimit() {
        MicroBatchLimit update = criticUpdateLimit();
        return update.rows() == null
                ? new MicroBatchLimit(either(critic.forwardMaxTokenLenPerGpu(), update.maxTokens()), null)
                : new MicroBatchLimit(null, either(critic.forwardMicroBatchSizePerGpu(), update.rows()));
    }

    /** Micro-batches of supervised fine-tuning. */
    public MicroBatchLimit sftLimit() {
        return limit(
                actor.useDynamicBsz(),
                either(sft.maxTokenLenPerGpu(), actor.ppoMaxTokenLenPerGpu()),
                actor.ppoMicroBatchSizePerGpu());
    }

    private static MicroBatchLimit limit(boolean dynamic, Integer maxTokens, Integer rows) {
        return dynamic ? new MicroBatchLimit(maxTokens, null) : new MicroBatchLimit(null, rows);
    }

    private static <T> T either(T own, T inherited) {
        return own == null ? inherited : own;
    }

    /** Longest prompt plus longest response, in tokens. */
    public int maxSequenceLength() {
        return data.maxPromptLength() + data.maxResponseLength();
    }
}
