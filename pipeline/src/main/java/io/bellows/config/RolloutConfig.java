package io.bellows.config;

import java.io.Serializable;
import java.util.List;

/** Section {@code rollout}: how responses are sampled. */
public record RolloutConfig(
        @Setting(value = "1", min = 1, about = "Samples per prompt: the size of a group")
        int n,

        @Setting(value = "1.0", min = 0, about = "Sampling temperature")
        double temperature,

        @Setting(value = "-1", min = -1, about = "Sample among the k likeliest tokens; -1: all")
        int topK,

        @Setting(
                value = "1.0",
                max = 1,
                about = "Sample among the likeliest tokens that together have this probability")
        double topP,

        @Setting(value = "0.0", min = 0, max = 1, about = "Drop tokens less likely than this share of the likeliest")
        double minP,

        @Setting(value = "[]", about = "Texts that end a response, besides the model's own end tokens")
        List<String> stop,

        @Setting(
                value = "64",
                min = 1,
                about = "Sequences an engine decodes at once: its KV slots",
                onResume = OnResume.FREE)
        int maxNumSeqs,

        @Setting(value = "8192", min = 1, about = "Prompt tokens an engine takes in per step", onResume = OnResume.FREE)
        int maxNumBatchedTokens,

        @Setting(
                value = "null",
                min = 1,
                about = "Spark partitions of a rollout; null: from the cluster",
                onResume = OnResume.FREE)
        Integer numPartitions,

        @Setting(
                value = "null",
                about = "Micro-batches of the log-probs before the update by token budget; null: actor.use_dynamic_bsz",
                onResume = OnResume.FREE)
        Boolean logProbUseDynamicBsz,

        @Setting(
                value = "null",
                min = 1,
                about = "Tokens of such a micro-batch; null: actor.ppo_max_token_len_per_gpu",
                onResume = OnResume.FREE)
        Integer logProbMaxTokenLenPerGpu,

        @Setting(
                value = "null",
                min = 1,
                about = "Rows of such a micro-batch; null: actor.ppo_micro_batch_size_per_gpu",
                onResume = OnResume.FREE)
        Integer logProbMicroBatchSizePerGpu,

        ValKwargs valKwargs,
        MultiTurn multiTurn,
        Agent agent)
        implements Serializable {

    /** Section {@code rollout.multi_turn}: conversations with tools. */
    public record MultiTurn(
            @Setting(
                    value = "false",
                    about =
                            "Rows without the column agent_name use tools: rollout.agent.default_agent_loop is tool_agent")
            boolean enable,

            @Setting(value = "null", min = 1, about = "Most turns of the model in a trajectory; null: no limit")
            Integer maxAssistantTurns,

            @Setting(value = "null", min = 1, about = "Most answers of the environment in a trajectory; null: no limit")
            Integer maxUserTurns,

            @Setting(value = "1", min = 1, about = "Tool calls of a turn that run at once; the others wait")
            int maxParallelCalls,

            @Setting(value = "256", min = 8, about = "Most tokens of a tool's response; what is longer is truncated")
            int maxToolResponseLength,

            @Setting(
                    value = "middle",
                    oneOf = {"left", "right", "middle"},
                    about = "The part of a longer response that is left out")
            String toolResponseTruncateSide,

            @Setting(value = "null", about = "File that lists the tools, YAML; null: none")
            String toolConfigPath,

            @Setting(value = "[]", about = "Classes whose annotated methods are tools")
            List<String> functionTools,

            @Setting(value = "[]", about = "Packages that classes of tools may come from, besides io.bellows.tool")
            List<String> toolPackages,

            @Setting(value = "30.0", min = 0.001, about = "Seconds that a tool call may take")
            double toolTimeoutS,

            @Setting(
                    value = "hermes",
                    oneOf = {"hermes", "qwen3_coder", "llama3_json", "mistral"},
                    about = "How the model writes tool calls")
            String format)
            implements Serializable {}

    /** Section {@code rollout.agent}: the environments that trajectories run in. */
    public record Agent(
            @Setting(
                    value = "single_turn",
                    about =
                            "Environment of rows without the column agent_name: single_turn, tool_agent, or one of a jar")
            String defaultAgentLoop,

            @Setting(
                    value = "64",
                    min = 1,
                    about = "Steps of environments that a rollout task runs at once",
                    onResume = OnResume.FREE)
            int numWorkers,

            @Setting(
                    value = "3600.0",
                    min = 0.001,
                    about = "Seconds for setup, tools, model and scoring of a trajectory together")
            double timeoutS,

            @Setting(value = "5.0", min = 0.001, about = "Seconds for each cleanup of a trajectory")
            double cleanupTimeoutS)
            implements Serializable {}

    /** Section {@code rollout.val_kwargs}: how validation samples. */
    public record ValKwargs(
            @Setting(value = "1", min = 1, about = "Samples per validation prompt")
            int n,

            @Setting(value = "0.0", min = 0, about = "Temperature of validation; 0: greedy")
            double temperature,

            @Setting(value = "-1", min = -1, about = "As rollout.top_k")
            int topK,

            @Setting(value = "1.0", max = 1, about = "As rollout.top_p")
            double topP,

            @Setting(value = "false", about = "Sample in validation; false: greedy")
            boolean doSample)
            implements Serializable {}
}
