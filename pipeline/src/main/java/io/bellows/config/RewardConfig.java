package io.bellows.config;

import java.io.Serializable;
import java.util.List;
import java.util.Map;

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
        double maxErrorRate)
        implements Serializable {

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
