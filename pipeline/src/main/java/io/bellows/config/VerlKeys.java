package io.bellows.config;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Keys of verl that are spelled differently here, or that Spark or the engine make needless; used in error messages only. */
final class VerlKeys {

    private static final String PREFIX = "actor_rollout_ref.";

    private static final Map<String, String> RENAMED = Map.of(
            "critic.optim.warmup_style", "critic.optim.lr_scheduler_type",
            "rollout.seed", "trainer.seed",
            "data.gen_batch_size", "data.train_batch_size",
            "rollout.prompt_length", "data.max_prompt_length",
            "rollout.response_length", "data.max_response_length",
            "rollout.multi_turn.max_num_seqs", "rollout.max_num_seqs",
            "actor.data_loader_seed", "trainer.seed",
            "trainer.run_dir", "trainer.default_local_dir",
            "batch_size", "data.train_batch_size",
            "rollout.dtype", "model.dtype");

    private static final Map<String, String> NEEDLESS = Map.ofEntries(
            Map.entry("nccl_timeout", "set trainer.nccl_timeout"),
            Map.entry("trainer.device", "the device is the one Spark assigns to the executor"),
            Map.entry("actor.strategy", "there is one strategy; remove the key"),
            Map.entry(
                    "actor.shuffle",
                    "every pass over an iteration takes its groups in a new order, from trainer.seed; remove the key"),
            Map.entry("trainer.logger", "metrics go to the console and to the table metrics; remove the key"),
            Map.entry("data.val_batch_size", "all of data.val_files is validated at once; remove the key"),
            Map.entry(
                    "actor.fsdp_config.model_dtype",
                    "master weights are float32; for the type of the computation set model.dtype"),
            Map.entry("actor.ppo_micro_batch_size", "set actor.ppo_micro_batch_size_per_gpu"),
            Map.entry("critic.strategy", "there is one strategy; remove the key"),
            Map.entry("critic.shuffle", "the critic takes the groups in the order of the policy; remove the key"),
            Map.entry("critic.model.tokenizer_path", "the critic reads the policy's token ids; remove the key"),
            Map.entry("trainer.max_critic_ckpt_to_keep", "a checkpoint holds both: set trainer.max_actor_ckpt_to_keep"),
            Map.entry("rollout.name", "there is one engine; remove the key"),
            Map.entry("rollout.tensor_model_parallel_size", "an engine runs on one device; remove the key"),
            Map.entry("rollout.gpu_memory_utilization", "set rollout.max_num_seqs, the number of KV slots"),
            Map.entry(
                    "rollout.enable_chunked_prefill", "prefill is always chunked: set rollout.max_num_batched_tokens"),
            Map.entry(
                    "rollout.multi_turn.function_tool_path",
                    "tools are Java: name classes with annotated methods in rollout.multi_turn.function_tools"),
            Map.entry(
                    "rollout.multi_turn.interaction_config_path",
                    "write the interaction as an environment and name it in rollout.agent.default_agent_loop"),
            Map.entry(
                    "rollout.multi_turn.use_inference_chat_template",
                    "what the model sampled is never rendered again; remove the key"),
            Map.entry(
                    "rollout.multi_turn.tokenization_sanity_check_mode",
                    "what the model sampled is never tokenized again; remove the key"),
            Map.entry("data.dataloader_num_workers", "Spark reads the data; remove the key"));

    private VerlKeys() {}

    /** What to do about the unknown key {@code name}, ending the sentence "Unknown key …: ". */
    static Optional<String> remedy(String name, Set<String> known, List<String> sections) {
        String ours = name.startsWith(PREFIX) ? name.substring(PREFIX.length()) : name;
        String renamed = RENAMED.getOrDefault(ours, ours);
        if (known.contains(renamed) && !renamed.equals(name)) {
            return Optional.of("write " + renamed);
        }
        if (NEEDLESS.containsKey(ours)) {
            return Optional.of(NEEDLESS.get(ours));
        }
        Optional<String> nearest = NearestName.of(ours, known);
        if (nearest.isPresent()) {
            return nearest.map(key -> "did you mean " + key + "?");
        }
        if (sections.contains(ours) || ours.isEmpty()) {
            return Optional.empty();
        }
        String last = ours.substring(ours.lastIndexOf('.') + 1);
        return known.stream()
                .filter(key -> key.endsWith("." + last))
                .sorted()
                .findFirst()
                .map(key -> "did you mean " + key + "?");
    }
}
