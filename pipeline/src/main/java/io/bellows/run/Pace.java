package io.bellows.run;

import java.util.Map;

/** How fast an iteration was, under verl's names. */
final class Pace {

    /** Stages whose seconds are also given by token: the rollout by response tokens, the others by all tokens. */
    private static final Map<String, String> TOKENS = Map.of(
            "gen", "perf/response_tokens",
            "old_log_prob", "perf/total_num_tokens",
            "update_critic", "perf/total_num_tokens",
            "update_actor", "perf/total_num_tokens");

    private Pace() {}

    /**
     * Adds {@code timing_s/step}, {@code perf/time_per_step}, {@code perf/throughput} (tokens a second) and {@code
     * timing_per_token_ms/*}.
     *
     * @param metrics with seconds by stage and numbers of tokens
     * @param seconds of the whole iteration
     */
    static void of(Map<String, Double> metrics, double seconds) {
        metrics.put("timing_s/step", seconds);
        metrics.put("perf/time_per_step", seconds);
        metrics.put("perf/throughput", metrics.getOrDefault("perf/total_num_tokens", 0.0) / seconds);
        TOKENS.forEach((stage, name) -> {
            Double spent = metrics.get("timing_s/" + stage);
            double tokens = metrics.getOrDefault(name, 0.0);
            if (spent != null && tokens > 0) {
                metrics.put("timing_per_token_ms/" + stage, spent * 1000 / tokens);
            }
        });
    }
}
