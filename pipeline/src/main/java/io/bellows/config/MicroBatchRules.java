package io.bellows.config;

/** The rules of the keys that cut rows into micro-batches. */
final class MicroBatchRules {

    private static final String ACTOR_DYNAMIC = "actor.use_dynamic_bsz";
    private static final String ACTOR_TOKENS = "actor.ppo_max_token_len_per_gpu";
    private static final String ACTOR_ROWS = "actor.ppo_micro_batch_size_per_gpu";

    private final BellowsConfig config;
    private final Errors errors;

    MicroBatchRules(BellowsConfig config, Errors errors) {
        this.config = config;
        this.errors = errors;
    }

    /** A key, and the value it was given, or null. */
    private record Given(String key, Integer value) {}

    /** Of the policy's update and of the log-probs. */
    void ofPolicies() {
        MicroBatchLimit update = config.actorUpdateLimit();
        check(
                update,
                ACTOR_DYNAMIC,
                new Given(ACTOR_TOKENS, update.maxTokens()),
                new Given(ACTOR_ROWS, config.actor().ppoMicroBatchSizePerGpu()));
        RolloutConfig rollout = config.rollout();
        check(
                config.oldLogProbLimit(),
                "rollout.log_prob_use_dynamic_bsz",
                new Given("rollout.log_prob_max_token_len_per_gpu", rollout.logProbMaxTokenLenPerGpu()),
                new Given("rollout.log_prob_micro_batch_size_per_gpu", rollout.logProbMicroBatchSizePerGpu()));
        RefConfig ref = config.ref();
        check(
                config.refLogProbLimit(),
                "ref.log_prob_use_dynamic_bsz",
                new Given("ref.log_prob_max_token_len_per_gpu", ref.logProbMaxTokenLenPerGpu()),
                new Given("ref.log_prob_micro_batch_size_per_gpu", ref.logProbMicroBatchSizePerGpu()));
    }

    void ofCritic() {
        CriticConfig critic = config.critic();
        MicroBatchLimit update = config.criticUpdateLimit();
        check(
                update,
                "critic.use_dynamic_bsz",
                new Given("critic.ppo_max_token_len_per_gpu", update.maxTokens()),
                new Given("critic.ppo_micro_batch_size_per_gpu", critic.ppoMicroBatchSizePerGpu()));
        if (update.maxTokens() == null && update.rows() == null) {
            return; // noted; the values follow the update
        }
        check(
                config.valuesLimit(),
                "critic.use_dynamic_bsz",
                new Given("critic.forward_max_token_len_per_gpu", critic.forwardMaxTokenLenPerGpu()),
                new Given("critic.forward_micro_batch_size_per_gpu", critic.forwardMicroBatchSizePerGpu()));
    }

    void ofRewardModel() {
        RewardModelConfig model = config.rewardModel();
        check(
                config.rewardModelLimit(),
                "reward_model.use_dynamic_bsz",
                new Given("reward_model.forward_max_token_len_per_gpu", model.forwardMaxTokenLenPerGpu()),
                new Given("reward_model.micro_batch_size_per_gpu", model.microBatchSizePerGpu()));
    }

    void ofSft() {
        MicroBatchLimit limit = config.sftLimit();
        Integer own = config.sft().maxTokenLenPerGpu();
        check(
                limit,
                ACTOR_DYNAMIC,
                own == null ? new Given(ACTOR_TOKENS, limit.maxTokens()) : new Given("sft.max_token_len_per_gpu", own),
                new Given(ACTOR_ROWS, config.actor().ppoMicroBatchSizePerGpu()));
    }

    private void check(MicroBatchLimit limit, String dynamicKey, Given tokens, Given rows) {
        boolean dynamic = limit.maxTokens() != null;
        Given unused = dynamic ? rows : tokens;
        if (unused.value != null) {
            errors.add("Invalid " + unused.key + " = " + unused.value + ": it has no effect on micro-batches by "
                    + (dynamic ? "token budget" : "number of rows") + "; set " + dynamicKey + "=" + !dynamic
                    + ", or remove it");
        }
        if (dynamic && tokens.value != null) {
            holdsLongestSequence(tokens.key, tokens.value);
        } else if (dynamic && !config.actor().useDynamicBsz()) {
            holdsLongestSequence(ACTOR_TOKENS, limit.maxTokens()); // inherited, and not checked with the update
        }
        boolean missing = !dynamic && limit.rows() == null;
        if (missing && (dynamicKey.equals(ACTOR_DYNAMIC) || config.actor().useDynamicBsz())) {
            errors.add("Invalid " + dynamicKey + " = false: nothing says how many rows a micro-batch has; set "
                    + rows.key);
        }
    }

    private void holdsLongestSequence(String key, int budget) {
        if (budget < config.maxSequenceLength()) {
            errors.add("Invalid " + key + " = " + budget + ": a sequence may have data.max_prompt_length +"
                    + " data.max_response_length = " + config.maxSequenceLength() + " tokens; set at least that");
        }
    }
}
