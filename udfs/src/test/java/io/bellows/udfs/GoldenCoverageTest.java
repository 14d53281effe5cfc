package io.bellows.udfs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** No function of the reference files goes without a test unseen. */
class GoldenCoverageTest {

    private static final Map<String, Set<String>> TESTED = Map.of(
            "verl_adv_gae_grpo",
            Set.of(
                    "compute_gae_advantage_return",
                    "compute_grpo_outcome_advantage",
                    "compute_grpo_vectorized_outcome_advantage",
                    "compute_grpo_passk_outcome_advantage"),
            "verl_adv_other",
            Set.of(
                    "compute_rloo_outcome_advantage",
                    "compute_rloo_vectorized_outcome_advantage",
                    "compute_opo_outcome_advantage",
                    "compute_reinforce_plus_plus_baseline_outcome_advantage",
                    "compute_gpg_outcome_advantage",
                    "compute_reinforce_plus_plus_outcome_advantage",
                    "compute_remax_outcome_advantage",
                    "compute_optimal_token_baseline_advantage",
                    "compute_multi_turn_optimal_token_baseline_advantage"),
            "verl_kl_value_misc",
            Set.of(
                    "kl_penalty",
                    "compute_value_loss",
                    "agg_loss",
                    "compute_entropy_loss",
                    "compute_rewards",
                    "masked_sum",
                    "masked_mean",
                    "masked_var",
                    "masked_whiten",
                    "AdaptiveKLController",
                    "FixedKLController"),
            "verl_policy_loss_a",
            Set.of(
                    "compute_policy_loss_vanilla",
                    "compute_policy_loss_gspo",
                    "compute_policy_loss_sapo",
                    "compute_policy_loss_gpg"),
            "verl_policy_loss_b",
            Set.of(
                    "compute_policy_loss_clip_cov",
                    "compute_policy_loss_kl_cov",
                    "compute_policy_loss_geo_mean",
                    "compute_policy_loss_cispo",
                    "compute_policy_loss_bypass_mode"),
            "verl_rollout_corr",
            Set.of(
                    "compute_rollout_correction_weights",
                    "compute_rollout_rejection_mask",
                    "compute_rollout_correction_and_rejection_mask",
                    "compute_offpolicy_metrics"),
            "verl_seqlen",
            Set.of(
                    "calculate_workload",
                    "karmarkar_karp",
                    "get_seqlen_balanced_partitions",
                    "greedy_partition",
                    "rearrange_micro_batches"));

    /** Functions without a counterpart, and why. */
    private static final Map<String, String> WITHOUT_COUNTERPART = Map.of(
            "entropy_from_logits", "a kernel of the decoder: the reference values of whole models check it",
            "logprobs_from_logits", "a kernel of the decoder: the reference values of whole models check it",
            "logprobs_from_logits_v2", "another spelling of the same",
            "get_response_mask", "deliberate difference: the mask says what was sampled, not where EOS stands",
            "get_group_balanced_partitions", "groups are dealt out by a permutation, rows by Karmarkar-Karp",
            "log_seqlen_unbalance", "global_seqlen metrics are not written",
            "ceildiv", "arithmetic of a line",
            "roundup_divisible", "arithmetic of a line");

    @ParameterizedTest
    @ValueSource(
            strings = {
                "verl_adv_gae_grpo",
                "verl_adv_other",
                "verl_kl_value_misc",
                "verl_policy_loss_a",
                "verl_policy_loss_b",
                "verl_rollout_corr",
                "verl_seqlen"
            })
    void everyFunctionIsTestedOrHasNoCounterpart(String file) {
        Set<String> functions =
                Golden.of(file).cases().map(Golden.Case::function).collect(Collectors.toSet());
        functions.removeAll(WITHOUT_COUNTERPART.keySet());

        assertThat(functions).isEqualTo(TESTED.get(file));
    }
}
