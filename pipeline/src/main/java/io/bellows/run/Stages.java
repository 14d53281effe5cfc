package io.bellows.run;

import io.bellows.cluster.Cluster;
import io.bellows.config.ActorConfig;
import io.bellows.config.BellowsConfig;
import io.bellows.config.CriticConfig;
import io.bellows.config.FilterGroupsConfig;
import io.bellows.config.RolloutCorrectionConfig;
import io.bellows.data.PromptDataset;
import io.bellows.env.EnvironmentSettings;
import io.bellows.resident.ExecutorHost.Role;
import io.bellows.resident.ResidentSettings;
import io.bellows.resident.WeightsRef;
import io.bellows.reward.RewardRegistry;
import io.bellows.reward.WeightedRewards;
import io.bellows.stage.AdvantageStage;
import io.bellows.stage.LoadStage;
import io.bellows.stage.LogProbStage;
import io.bellows.stage.RewardModelStage;
import io.bellows.stage.RolloutCorrectionStage;
import io.bellows.stage.RolloutSampling;
import io.bellows.stage.RolloutStage;
import io.bellows.stage.ScoreStage;
import io.bellows.stage.UpdatePlan;
import io.bellows.stage.UpdateStage;
import io.bellows.training.AdamW;
import io.bellows.training.LearningRateSchedule;
import io.bellows.training.MicroBatching;
import io.bellows.training.PolicyObjective;
import io.bellows.training.UpdateSettings;
import io.bellows.training.ValueObjective;
import io.bellows.udfs.advantage.BatchNormalization;
import io.bellows.udfs.correction.RolloutCorrection;
import io.bellows.udfs.loss.LossAggregation;
import java.time.Duration;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * The stages of a run, set up from its configuration.
 *
 * @param load weights into the memory of executors
 * @param rollout prompts to trajectories
 * @param score trajectories to scores
 * @param groupFilter tells which groups to learn from, or null for all
 * @param logProbs trajectories to log-probs and values
 * @param correction log-probs to corrected ones, or null in bypass mode, where the update corrects
 * @param advantage log-probs and scores to experience
 * @param critic experience to a new critic, or null without one
 * @param actor experience to a new policy
 * @param validation validation on held-out prompts, or null without any
 */
record Stages(
        ModelLoad load,
        RolloutStage rollout,
        ScoreStage score,
        GroupFilter groupFilter,
        LogProbStage logProbs,
        RolloutCorrectionStage correction,
        AdvantageStage advantage,
        ModelUpdate critic,
        ModelUpdate actor,
        Validation validation) {

    /** What the models of an iteration say about its trajectories. */
    Dataset<Row> scored(Dataset<Row> trajectories, Models models) {
        WeightsRef policy = correction == null ? null : models.policy();
        return logProbs.run(trajectories, policy, load.reference(), models.critic());
    }

    /** Whether {@link #experience} looks at all of the batch before it looks at each of its rows. */
    boolean readsLogProbsTwice() {
        return advantage.estimator().batchNormalization() != BatchNormalization.NONE
                || (correction != null && correction.correction().isBatchNormalized());
    }

    /** What the update learns from: the models' word, corrected for what the engine said, and the scores. */
    Dataset<Row> experience(Dataset<Row> scored, Dataset<Row> scores, double klCoef) {
        RolloutCorrectionStage corrected =
                correction == null ? new RolloutCorrectionStage(RolloutCorrection.NONE) : correction;
        return advantage.run(corrected.run(scored, scores), scores, klCoef);
    }

    static Stages of(
            SparkSession spark,
            BellowsConfig config,
            Progress progress,
            String runId,
            PromptDataset heldOut,
            int iterations) {
        ResidentSettings resident = ResidentSettings.of(config);
        WeightedRewards rewards = RewardRegistry.standard().create(config.rewardFunctions());
        Cluster cluster = Cluster.of(spark, config.trainer(), progress::message);
        int partitions = partitions(cluster, config);
        ScoreStage score = new ScoreStage(rewards, RewardModelStage.of(config, runId, partitions));
        return new Stages(
                new ModelLoad(
                        new LoadStage(runId, resident, patience(config)),
                        config.usesReference()
                                ? WeightsRef.initial(config.model().path())
                                : null,
                        cluster),
                new RolloutStage(
                        runId, resident, RolloutSampling.training(config), EnvironmentSettings.of(config), partitions),
                score,
                groupFilter(config.algorithm().filterGroups(), rewards),
                new LogProbStage(
                        runId,
                        resident,
                        config.rollout().temperature(),
                        LogProbStage.Squares.of(config.algorithm().estimator()),
                        scoring(config),
                        partitions),
                correction(config.algorithm().rolloutCorrection()),
                AdvantageStage.of(config.algorithm()),
                config.usesCritic() ? critic(config, runId, resident, cluster, iterations) : null,
                actor(config, runId, resident, cluster, iterations),
                heldOut == null ? null : validation(config, runId, resident, partitions, heldOut, score, rewards));
    }

    private static RolloutCorrectionStage correction(RolloutCorrectionConfig correction) {
        return correction.bypassMode() ? null : new RolloutCorrectionStage(correction.newCorrection());
    }

    private static GroupFilter groupFilter(FilterGroupsConfig filter, WeightedRewards rewards) {
        return filter.enable() ? GroupFilter.of(filter.metric(), rewards.names().get(0)) : null;
    }

    private static ModelUpdate actor(
            BellowsConfig config, String runId, ResidentSettings resident, Cluster cluster, int iterations) {
        ActorConfig actor = config.actor();
        UpdatePlan plan = new UpdatePlan(
                actor.ppoMiniBatchSize(), actor.ppoEpochs(), config.trainer().seed());
        int learning = iterations - config.trainer().criticWarmup();
        UpdateSettings settings = new UpdateSettings(
                new PolicyObjective(
                        actor,
                        config.algorithm().rolloutCorrection(),
                        config.rollout().temperature(),
                        lossScaleFactor(config),
                        config.trainer().seed()),
                AdamW.Settings.of(actor.optim()),
                new LearningRateSchedule(
                        actor.optim(), learning * plan.steps(config.data().trainBatchSize())),
                actor.gradClip(),
                MicroBatching.of(config.actorUpdateLimit()));
        return new ModelUpdate(
                plan, new UpdateStage(runId, Role.POLICY, resident, settings, patience(config)), cluster);
    }

    private static ModelUpdate critic(
            BellowsConfig config, String runId, ResidentSettings resident, Cluster cluster, int iterations) {
        CriticConfig critic = config.critic();
        UpdatePlan plan = new UpdatePlan(
                inherited(critic.ppoMiniBatchSize(), config.actor().ppoMiniBatchSize()),
                inherited(critic.ppoEpochs(), config.actor().ppoEpochs()),
                config.trainer().seed());
        String aggregation = inherited(critic.lossAggMode(), config.actor().lossAggMode());
        UpdateSettings settings = new UpdateSettings(
                new ValueObjective(critic.cliprangeValue(), LossAggregation.of(aggregation), lossScaleFactor(config)),
                AdamW.Settings.of(critic.optim()),
                new LearningRateSchedule(
                        critic.optim(), iterations * plan.steps(config.data().trainBatchSize())),
                critic.gradClip(),
                MicroBatching.of(config.criticUpdateLimit()));
        return new ModelUpdate(
                plan, new UpdateStage(runId, Role.CRITIC, resident, settings, patience(config)), cluster);
    }

    private static double lossScaleFactor(BellowsConfig config) {
        Double factor = config.actor().lossScaleFactor();
        return factor == null ? config.data().maxResponseLength() : factor;
    }

    private static <T> T inherited(T own, T actors) {
        return own == null ? actors : own;
    }

    private static Validation validation(
            BellowsConfig config,
            String runId,
            ResidentSettings resident,
            int partitions,
            PromptDataset heldOut,
            ScoreStage score,
            WeightedRewards rewards) {
        RolloutSampling sampling = RolloutSampling.validation(config);
        EnvironmentSettings environments = EnvironmentSettings.of(config);
        RolloutStage sampled = sampling.temperature() > 0
                ? new RolloutStage(runId, resident, sampling, environments, partitions)
                : null;
        RolloutStage greedy = new RolloutStage(runId, resident, sampling.greedy(), environments, partitions);
        return new Validation(heldOut, greedy, sampled, score, rewards.names().get(0));
    }

    private static Map<Role, MicroBatching> scoring(BellowsConfig config) {
        return Map.of(
                Role.POLICY, MicroBatching.of(config.oldLogProbLimit()),
                Role.REFERENCE, MicroBatching.of(config.refLogProbLimit()),
                Role.CRITIC, MicroBatching.of(config.valuesLimit()));
    }

    private static Duration patience(BellowsConfig config) {
        return Duration.ofSeconds(config.trainer().ncclTimeout());
    }

    private static int partitions(Cluster cluster, BellowsConfig config) {
        Integer configured = config.rollout().numPartitions();
        long trajectories =
                (long) config.data().trainBatchSize() * config.rollout().n();
        return configured == null
                ? cluster.rolloutTasks(trajectories, config.rollout().maxNumSeqs())
                : configured;
    }
}
