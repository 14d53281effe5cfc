package io.bellows.env;

import io.bellows.config.BellowsConfig;
import io.bellows.config.RolloutConfig;
import io.bellows.tool.ToolLimits;
import io.bellows.tool.ToolLimits.Truncation;
import io.bellows.tool.ToolRegistry;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;

/**
 * What the configuration says about environments.
 *
 * @param multiTurn section {@code rollout.multi_turn}
 * @param agent section {@code rollout.agent}
 * @param toolConfig the text of the file {@code rollout.multi_turn.tool_config_path}, read where the run starts, or null
 * @param maxPromptTokens {@code data.max_prompt_length}
 */
public record EnvironmentSettings(
        RolloutConfig.MultiTurn multiTurn, RolloutConfig.Agent agent, String toolConfig, int maxPromptTokens)
        implements Serializable {

    /** The settings of a configuration. */
    public static EnvironmentSettings of(BellowsConfig config) {
        return new EnvironmentSettings(
                config.rollout().multiTurn(),
                config.rollout().agent(),
                content(config.rollout().multiTurn().toolConfigPath()),
                config.data().maxPromptLength());
    }

    private static String content(String path) {
        try {
            return path == null ? null : Files.readString(Path.of(path));
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read rollout.multi_turn.tool_config_path = '" + path + "'", e);
        }
    }

    /** The environment of rows that name none. */
    public String defaultEnvironment() {
        boolean tools = multiTurn.enable() && agent.defaultAgentLoop().equals(SingleTurnFactory.NAME);
        return tools ? ToolEnvFactory.NAME : agent.defaultAgentLoop();
    }

    /** Whether rows that name no environment use tools. */
    public boolean usesTools() {
        return defaultEnvironment().equals(ToolEnvFactory.NAME);
    }

    /**
     * The tools that the configuration names, for one executor.
     *
     * @throws io.bellows.config.InvalidConfigException with every error in them
     */
    public ToolRegistry toolRegistry() {
        ToolRegistry.Builder builder = ToolRegistry.builder()
                .allowPackages(multiTurn.toolPackages())
                .limits(new ToolLimits(
                        seconds(multiTurn.toolTimeoutS()),
                        seconds(agent.cleanupTimeoutS()),
                        multiTurn.maxToolResponseLength(),
                        Truncation.valueOf(multiTurn.toolResponseTruncateSide().toUpperCase(Locale.ROOT)),
                        multiTurn.maxParallelCalls(),
                        agent.numWorkers()));
        if (toolConfig != null) {
            builder.nativeTools(multiTurn.toolConfigPath(), toolConfig);
        }
        multiTurn.functionTools().forEach(builder::functionTools);
        return builder.build();
    }

    /** What a trajectory may use up. */
    public RolloutLimits limits(int maxResponseTokens, int maxSequenceTokens) {
        return new RolloutLimits(
                maxPromptTokens,
                maxResponseTokens,
                maxSequenceTokens,
                seconds(agent.timeoutS()),
                seconds(agent.cleanupTimeoutS()));
    }

    private static Duration seconds(double seconds) {
        return Duration.ofNanos((long) Math.min(1e18, seconds * 1e9));
    }
}
