package io.bellows.stage;

import io.bellows.config.BellowsConfig;
import io.bellows.config.RolloutConfig;
import io.bellows.engine.SamplingParams;
import java.io.Serializable;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * How a rollout samples.
 *
 * @param n samples per prompt
 * @param baseline what comes with the samples of a prompt
 * @param temperature 0 for greedy
 * @param topK -1 for all tokens
 * @param topP 1 for all tokens
 * @param minP 0 for all tokens
 * @param maxTokens longest response
 * @param stop texts that end a response
 * @param seed the run's seed
 * @param templateVariables extra variables of the chat template
 */
public record RolloutSampling(
        int n,
        Baseline baseline,
        double temperature,
        int topK,
        double topP,
        double minP,
        int maxTokens,
        List<String> stop,
        long seed,
        Map<String, Object> templateVariables)
        implements Serializable {

    /** What a prompt gets besides its samples. */
    public enum Baseline {
        /** Nothing. */
        NONE,
        /** One greedy response, which ReMax compares the samples with. */
        GREEDY
    }

    private static final long VALIDATION = 0x56414c; // validation draws from seeds of its own

    /**
     * The sampling of training.
     *
     * @param config the configuration
     * @return section {@code rollout}
     */
    public static RolloutSampling training(BellowsConfig config) {
        RolloutConfig rollout = config.rollout();
        return new RolloutSampling(
                rollout.n(),
                config.algorithm().advEstimator().equals("remax") ? Baseline.GREEDY : Baseline.NONE,
                rollout.temperature(),
                rollout.topK(),
                rollout.topP(),
                rollout.minP(),
                config.data().maxResponseLength(),
                List.copyOf(rollout.stop()),
                config.trainer().seed(),
                new HashMap<>(config.data().applyChatTemplateKwargs()));
    }

    /**
     * The sampling of validation.
     *
     * @param config the configuration
     * @return section {@code rollout.val_kwargs}
     */
    public static RolloutSampling validation(BellowsConfig config) {
        RolloutConfig.ValKwargs validation = config.rollout().valKwargs();
        return new RolloutSampling(
                validation.n(),
                Baseline.NONE,
                validation.doSample() ? validation.temperature() : 0,
                validation.topK(),
                validation.topP(),
                0,
                config.data().maxResponseLength(),
                List.copyOf(config.rollout().stop()),
                config.trainer().seed() ^ VALIDATION,
                new HashMap<>(config.data().applyChatTemplateKwargs()));
    }

    /**
     * Returns the same with one response per prompt, the likeliest.
     *
     * @return the greedy sampling
     */
    public RolloutSampling greedy() {
        return new RolloutSampling(1, Baseline.NONE, 0, -1, 1, 0, maxTokens, stop, seed, templateVariables);
    }

    /**
     * Returns the trajectories of a prompt, with the baseline.
     *
     * @return at least 1
     */
    public int trajectoriesPerPrompt() {
        return baseline == Baseline.GREEDY ? n + 1 : n;
    }

    /** The sampling of a turn, which may have fewer tokens left than the whole response. */
    SamplingParams params(int[] stopIds, int tokensOfTurn) {
        return new SamplingParams(temperature, topK, topP, minP, tokensOfTurn, stopIds, stop);
    }
}
