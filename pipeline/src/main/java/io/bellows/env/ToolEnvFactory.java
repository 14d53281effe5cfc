package io.bellows.env;

import io.bellows.config.RolloutConfig.MultiTurn;
import io.bellows.text.toolcall.ToolCallFormat;
import io.bellows.tool.ToolRegistry;

/** Makes {@link ToolEnv} with the tools of {@code rollout.multi_turn}. */
final class ToolEnvFactory implements EnvironmentFactory {

    static final String NAME = "tool_agent";

    private MultiTurn settings;
    private ToolRegistry registry;

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public void open(EnvironmentSettings environments) {
        settings = environments.multiTurn();
        registry = environments.toolRegistry();
    }

    @Override
    public MultiTurnEnv create() {
        return new Configured(registry, settings);
    }

    /** The tool environment within the configured numbers of turns. */
    private static final class Configured extends ToolEnv {
        Configured(ToolRegistry registry, MultiTurn settings) {
            super(registry, ToolCallFormat.named(settings.format()));
            maxTurns(settings.maxAssistantTurns() == null ? 0 : settings.maxAssistantTurns());
            maxEnvResponses(settings.maxUserTurns() == null ? 0 : settings.maxUserTurns());
        }
    }
}
