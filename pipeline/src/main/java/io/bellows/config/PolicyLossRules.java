package io.bellows.config;

/** The rules of the policy loss and of the correction of its rollouts. What a loss reads it checks itself. */
final class PolicyLossRules {

    private final BellowsConfig config;
    private final Errors errors;

    PolicyLossRules(BellowsConfig config, Errors errors) {
        this.config = config;
        this.errors = errors;
    }

    void check() {
        loss();
        correction();
    }

    private void loss() {
        ActorConfig actor = config.actor();
        String mode = actor.policyLoss().lossMode();
        Double beta = actor.policyLoss().droBeta();
        if (mode.equals("dro") && beta == null) {
            errors.add("Invalid actor.policy_loss.dro_beta = null: actor.policy_loss.loss_mode = dro needs it;"
                    + " set a number above 0, such as 0.1");
            return;
        }
        if (!mode.equals("dro") && beta != null) {
            errors.add("Invalid actor.policy_loss.dro_beta = " + beta
                    + ": only actor.policy_loss.loss_mode = dro uses it; remove it or set that mode");
        }
        if (actor.clipLow() > 1 || actor.clipRatioC() <= 1) {
            return; // noted
        }
        try {
            actor.newPolicyLoss();
        } catch (IllegalArgumentException e) {
            errors.add("Invalid actor.policy_loss.loss_mode = " + mode + ": " + e.getMessage());
        }
    }

    private void correction() {
        RolloutCorrectionConfig correction = config.algorithm().rolloutCorrection();
        String section = "algorithm.rollout_correction.";
        try {
            correction.newCorrection();
        } catch (IllegalArgumentException e) {
            errors.add("Invalid algorithm.rollout_correction: " + e.getMessage());
        }
        if (correction.rolloutRs() == null && correction.rolloutRsThreshold() != null) {
            errors.add("Invalid " + section + "rollout_rs_threshold = '" + correction.rolloutRsThreshold() + "': only "
                    + section + "rollout_rs uses it; set that too, or remove it");
        }
        if (correction.rolloutIs() == null && correction.rolloutIsBatchNormalize()) {
            errors.add(
                    "Invalid " + section + "rollout_is_batch_normalize = true: there are no weights to normalize; set "
                            + section + "rollout_is, or remove the key");
        }
        if (!correction.bypassMode() && !correction.lossType().equals("ppo_clip")) {
            errors.add("Invalid " + section + "loss_type = '" + correction.lossType() + "': only " + section
                    + "bypass_mode = true uses it; set that too, or remove the key");
        }
        String mode = config.actor().policyLoss().lossMode();
        if (correction.bypassMode() && !mode.equals("vanilla")) {
            errors.add("Invalid actor.policy_loss.loss_mode = '" + mode + "': " + section
                    + "bypass_mode = true has losses of its own, chosen by " + section
                    + "loss_type; remove one of them");
        }
    }
}
