package io.bellows.run;

import io.bellows.config.ActorConfig;
import io.bellows.config.BellowsConfig;
import io.bellows.config.FilterGroupsConfig;
import io.bellows.data.PromptDataset;
import io.bellows.resident.ResidentSettings;
import io.bellows.resident.WeightsRef;
import io.bellows.reward.RewardRegistry;
import io.bellows.reward.WeightedRewards;
import io.bellows.stage.AdvantageStage;
import io.bellows.stage.LogProbStage;
import io.bellows.stage.RolloutSampling;
import io.bellows.stage.RolloutStage;
import io.bellows.stage.ScoreStage;
import io.bellows.stage.UpdatePlan;
import io.bellows.stage.UpdateStage;
import io.bellows.training.AdamW;
import io.bellows.training.LearningRateSchedule;
import io.bellows.training.PolicyObjective;
import io.bellows.training.UpdateSettings;
import io.bellows.udfs.advantage.GrpoAdvantage.Normalization;
import org.apache.spark.sql.SparkSession;

/**
 * The stages of a run, set up from its configuration.
 *
 * @param rollout prompts to trajectories
 * @param score trajectories to scores
 * @param groupFilter tells which groups to learn from, or null for all
 * @param logProbs trajectories to log-probs
 * @param advantage log-probs and scores to experience
 * @param plan experience to planned rows
 * @param update planned rows to new weights
 * @param reference the reference policy, or null without KL loss
 * @param validation validation on held-out prompts, or null without any
 */
record Stages(
        RolloutStage rollout,
        ScoreStage score,
        GroupFilter groupFilter,
        LogProbStage logProbs,
        AdvantageStage advantage,
        UpdatePlan plan,
        UpdateStage update,
        WeightsRef reference,
        Validation validation) {

    static Stages of(
            SparkSession spark, BellowsConfig config, String runId, PromptDataset heldOut, long optimizerSteps) {
        ResidentSettings resident = ResidentSettings.of(config);
        WeightedRewards rewards = RewardRegistry.standard().create(config.reward());
        ScoreStage score = new ScoreStage(rewards);
        int partitions = partitions(spark, config);
        return new Stages(
                new RolloutStage(runId, resident, RolloutSampling.training(config), partitions),
                score,
                groupFilter(config.algorithm().filterGroups(), rewards),
                new LogProbStage(runId, resident, config.rollout().temperature(), scoringTokens(config), partitions),
                new AdvantageStage(config.algorithm().normAdvByStdInGrpo() ? Normalization.BY_STD : Normalization.NONE),
                UpdatePlan.of(config.actor(), config.trainer().seed()),
                new UpdateStage(runId, resident, settings(config, optimizerSteps)),
                config.actor().useKlLoss() ? WeightsRef.initial(config.model().path()) : null,
                heldOut == null ? null : validation(config, runId, resident, partitions, heldOut, score, rewards));
    }

    private static GroupFilter groupFilter(FilterGroupsConfig filter, WeightedRewards rewards) {
        return filter.enable() ? GroupFilter.of(filter.metric(), rewards.names().get(0)) : null;
    }

    private static UpdateSettings settings(BellowsConfig config, long optimizerSteps) {
        ActorConfig actor = config.actor();
        double scale = actor.lossScaleFactor() == null ? config.data().maxResponseLength() : actor.lossScaleFactor();
        return new UpdateSettings(
                new PolicyObjective(actor, config.rollout().temperature(), scale),
                AdamW.Settings.of(actor.optim()),
                new LearningRateSchedule(actor.optim(), optimizerSteps),
                actor.gradClip(),
                actor.ppoMaxTokenLenPerGpu());
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
        RolloutStage sampled =
                sampling.temperature() > 0 ? new RolloutStage(runId, resident, sampling, partitions) : null;
        RolloutStage greedy = new RolloutStage(runId, resident, sampling.greedy(), partitions);
        return new Validation(heldOut, greedy, sampled, score, rewards.names().get(0));
    }

    private static int scoringTokens(BellowsConfig config) {
        Integer own = config.ref().logProbMaxTokenLenPerGpu();
        return own == null ? config.actor().ppoMaxTokenLenPerGpu() : own;
    }

    /** One task per executor: the engine of an executor batches, several tasks would only share its cores. */
    private static int partitions(SparkSession spark, BellowsConfig config) {
        Integer configured = config.rollout().numPartitions();
        int executors = spark.sparkContext().statusTracker().getExecutorInfos().length - 1; // less the driver
        return configured == null ? Math.max(1, executors) : configured;
    }
}
