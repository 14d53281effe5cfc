package io.bellows.config;

import io.bellows.udfs.advantage.AdvantageEstimator;
import java.util.List;

/** The rules of section {@code algorithm}. */
final class AlgorithmRules {

    private final BellowsConfig config;
    private final Errors errors;

    AlgorithmRules(BellowsConfig config, Errors errors) {
        this.config = config;
        this.errors = errors;
    }

    /** What the estimator needs, and the weight of the divergence. Keys of gdpo are checked by {@link #rewardKeys}. */
    void check() {
        AlgorithmConfig algorithm = config.algorithm();
        if (algorithm.rolloutCorrection().bypassMode()
                && algorithm.estimator().inputs().contains(AdvantageEstimator.Input.SQUARED_PROBABILITIES)) {
            errors.add("Invalid algorithm.rollout_correction.bypass_mode = true: algorithm.adv_estimator = "
                    + algorithm.advEstimator() + " reads sums of squared probabilities, which the engine does not"
                    + " record; set bypass_mode=false");
        }
        if (algorithm.klCtrl().type().equals("adaptive") && !(algorithm.klCtrl().targetKl() > 0)) {
            errors.add("Invalid algorithm.kl_ctrl.target_kl = "
                    + algorithm.klCtrl().targetKl() + ": expected above 0, such as 0.1");
        }
    }

    /**
     * Keys of gdpo: its rewards must be there, and nothing else reads them.
     *
     * @param names of the reward functions
     */
    void rewardKeys(List<String> names) {
        AlgorithmConfig algorithm = config.algorithm();
        List<String> keys = algorithm.gdpoRewardKeys();
        if (!algorithm.estimator().inputs().contains(AdvantageEstimator.Input.REWARDS)) {
            if (!keys.isEmpty() || !algorithm.gdpoRewardWeights().isEmpty()) {
                errors.add("Invalid algorithm." + (keys.isEmpty() ? "gdpo_reward_weights" : "gdpo_reward_keys")
                        + ": only algorithm.adv_estimator = gdpo uses it; remove it");
            }
            return;
        }
        if (keys.isEmpty()) {
            errors.add("Invalid algorithm.gdpo_reward_keys = []: name the reward functions that gdpo normalizes, of "
                    + names);
        }
        keys.stream()
                .filter(key -> !names.contains(key))
                .forEach(key -> errors.add("Invalid algorithm.gdpo_reward_keys: no reward function is named '" + key
                        + "'; the names are " + names));
        int weights = algorithm.gdpoRewardWeights().size();
        if (weights > 0 && weights != keys.size()) {
            errors.add("Invalid algorithm.gdpo_reward_weights = " + algorithm.gdpoRewardWeights() + ": " + weights
                    + " for " + keys.size() + " algorithm.gdpo_reward_keys; give one each, or none");
        }
        if (algorithm.useKlInReward()) {
            errors.add(
                    "Invalid algorithm.use_kl_in_reward = true: gdpo normalizes each reward by itself, so that there is"
                            + " no place for the penalty; set actor.use_kl_loss=true instead");
        }
    }
}
