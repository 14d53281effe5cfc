package io.bellows.config;

import java.io.Serializable;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Section {@code reward}: a weighted sum of reward functions. */
public record RewardConfig(
        @Setting(
                value = "[{name: number_match}]",
                about = "Reward functions: a list of {name, weight, and the options of that function}")
        List<Function> functions,

        @Setting(
                value = "0.1",
                min = 0,
                max = 1,
                about = "Share of an iteration's rewards that may fail before the run stops",
                onResume = OnResume.FREE)
        double maxErrorRate,

        RewardKwargs rewardKwargs)
        implements Serializable {

    /** The function that gives what the reward model says. */
    public static final String REWARD_MODEL = "reward_model";

    /** The name under which overlong shaping is recorded, verl's. */
    private static final String OVERLONG = "overlong_reward";

    /** Section {@code reward.reward_kwargs}. */
    public record RewardKwargs(OverlongBuffer overlongBufferCfg) implements Serializable {}

    /** Section {@code reward.reward_kwargs.overlong_buffer_cfg}: overlong shaping of DAPO. */
    public record OverlongBuffer(
            @Setting(value = "false", about = "Punish responses that come close to data.max_response_length (DAPO)")
            boolean enable,

            @Setting(value = "0", min = 0, about = "Tokens before data.max_response_length at which that starts")
            int len,

            @Setting(value = "1.0", min = 0, about = "The punishment at data.max_response_length")
            double penaltyFactor)
            implements Serializable {}

    /**
     * The functions whose weighted sum is the reward: those of {@link #functions}, and with overlong shaping the function {@code
     * length}, so that there is one mechanism for both.
     *
     * @param maxResponseLength {@code data.max_response_length}
     */
    public List<Function> allFunctions(int maxResponseLength) {
        OverlongBuffer overlong = rewardKwargs.overlongBufferCfg();
        if (!overlong.enable()) {
            return functions;
        }
        Map<String, Object> options = Map.of("max_length", maxResponseLength, "buffer", overlong.len(), "as", OVERLONG);
        return Stream.concat(functions.stream(), Stream.of(new Function("length", overlong.penaltyFactor(), options)))
                .toList();
    }

    /**
     * One reward function.
     *
     * @param name its name in the registry
     * @param weight its factor in the sum; 0 records without rewarding
     * @param options every other key of the entry
     */
    public record Function(
            @Setting(value = "null", about = "Name of the reward function")
            String name,

            @Setting(value = "1.0", about = "Factor in the sum; 0 records it only")
            double weight,

            @OtherKeys Map<String, Object> options)
            implements Serializable {}
}
