package io.bellows.udfs.advantage;

import static java.util.Map.entry;

import io.bellows.udfs.advantage.GrpoAdvantage.Normalization;
import io.bellows.udfs.advantage.OptimalTokenBaseline.Steps;
import io.bellows.udfs.advantage.OptimalTokenBaseline.Tail;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The advantage estimators that {@code algorithm.adv_estimator} can name, under verl's names. */
public final class AdvantageRegistry {

    /**
     * What configures an estimator.
     *
     * @param normalization {@code norm_adv_by_std_in_grpo}, for grpo, grpo_passk and gdpo
     * @param gamma discount, for gae and reinforce_plus_plus
     * @param lambda {@code lam}, for gae
     * @param rewardWeights {@code gdpo_reward_weights}, one per reward
     */
    public record Settings(Normalization normalization, double gamma, double lambda, List<Double> rewardWeights) {}

    private static final Map<String, Function<Settings, AdvantageEstimator>> ESTIMATORS = Map.ofEntries(
            entry("gae", settings -> new GaeAdvantage(settings.gamma(), settings.lambda())),
            entry("grpo", settings -> new GrpoAdvantage(settings.normalization())),
            entry("grpo_vectorized", settings -> new GrpoAdvantage(settings.normalization())),
            entry("grpo_passk", settings -> new GrpoPassKAdvantage(settings.normalization())),
            entry("rloo", settings -> new RlooAdvantage()),
            entry("rloo_vectorized", settings -> new RlooAdvantage()),
            entry("opo", settings -> new OpoAdvantage()),
            entry("gpg", settings -> new GpgAdvantage()),
            entry("gdpo", settings -> new GdpoAdvantage(settings.normalization(), settings.rewardWeights())),
            entry("reinforce_plus_plus", settings -> new ReinforcePlusPlusAdvantage(settings.gamma())),
            entry("reinforce_plus_plus_baseline", settings -> new ReinforcePlusPlusBaselineAdvantage()),
            entry("remax", settings -> new RemaxAdvantage()),
            entry("optimal_token_baseline", settings -> new OptimalTokenBaseline(Steps.POSITIONS, Tail.ZERO)),
            entry("tir_optimal_token_baseline", settings -> new OptimalTokenBaseline(Steps.SAMPLED_TOKENS, Tail.ZERO)));

    private AdvantageRegistry() {}

    /**
     * The estimator of this name.
     *
     * @throws IllegalArgumentException naming the known ones, if there is none
     */
    public static AdvantageEstimator create(String name, Settings settings) {
        Function<Settings, AdvantageEstimator> estimator = ESTIMATORS.get(name);
        if (estimator == null) {
            throw new IllegalArgumentException(
                    "Unsupported advantage estimator '" + name + "': use one of " + String.join(", ", names()));
        }
        return estimator.apply(settings);
    }

    /** Every name, sorted. */
    public static List<String> names() {
        return ESTIMATORS.keySet().stream().sorted().toList();
    }
}
