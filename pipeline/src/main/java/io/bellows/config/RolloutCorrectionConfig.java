package io.bellows.config;

import io.bellows.udfs.correction.ImportanceWeighting;
import io.bellows.udfs.correction.RejectionRule;
import io.bellows.udfs.correction.RolloutCorrection;
import java.io.Serializable;

/** Section {@code algorithm.rollout_correction}: what is done about the difference between the engine's policy and the learning one. */
public record RolloutCorrectionConfig(
        @Setting(
                value = "null",
                oneOf = {"token", "sequence"},
                about = "Importance weights of tokens or of whole sequences; null: none")
        String rolloutIs,

        @Setting(value = "2.0", about = "Largest weight; or two bounds, such as 0.5_5.0, outside of which it is 0")
        String rolloutIsThreshold,

        @Setting(value = "false", about = "Divide the weights by their mean over the batch")
        boolean rolloutIsBatchNormalize,

        @Setting(value = "null", about = "Reject by token_k1, seq_mean_k3 and the like, one or more; null: nothing")
        String rolloutRs,

        @Setting(
                value = "null",
                about = "Bounds of the rejection, one for all or one each: 0.5_2.0 of a ratio for k1, 0.01 of k2 and"
                        + " k3")
        String rolloutRsThreshold,

        @Setting(
                value = "false",
                about = "Take the engine's log-probs for those of the policy before its update, which saves a pass")
        boolean bypassMode,

        @Setting(
                value = "ppo_clip",
                oneOf = {"ppo_clip", "reinforce"},
                about = "Loss in bypass mode: clipped, or plain with the importance weights")
        String lossType)
        implements Serializable {

    /** Whether weights are computed or tokens rejected. */
    public boolean isActive() {
        return rolloutIs != null || rolloutRs != null;
    }

    /** Whether the loss is verl's {@code reinforce} of bypass mode. */
    public boolean isReinforce() {
        return bypassMode && lossType.equals("reinforce");
    }

    /**
     * The correction that is configured.
     *
     * @throws IllegalArgumentException if a value cannot be understood
     */
    public RolloutCorrection newCorrection() {
        RolloutCorrection correction = RolloutCorrection.NONE;
        if (rolloutIs != null) {
            correction = correction.withWeights(ImportanceWeighting.of(rolloutIs, rolloutIsThreshold));
        }
        if (rolloutIsBatchNormalize) {
            correction = correction.withBatchNormalization();
        }
        return rolloutRs == null
                ? correction
                : correction.withRejection(RejectionRule.parse(rolloutRs, rolloutRsThreshold));
    }
}
