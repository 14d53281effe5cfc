package io.bellows.udfs.advantage;

import static io.bellows.udfs.advantage.GrpoAdvantage.Normalization.BY_STD;
import static io.bellows.udfs.advantage.GrpoAdvantage.Normalization.NONE;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.bellows.udfs.Golden;
import io.bellows.udfs.advantage.OptimalTokenBaseline.Steps;
import io.bellows.udfs.advantage.OptimalTokenBaseline.Tail;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every reference case of advantages: equal to verl, or one of the deliberate differences, which are tested for their own value. */
class VerlAdvantagesTest {

    /** The reference is in float: a difference of numbers of size 1 to 5 has this absolute error. */
    private static final double CANCELLATION = 1e-6;

    /** verl keeps the raw score of a group of one (times 1/(1 + 1e-6) where it divides); so does this, for the comparison only. */
    private record WithVerlSingletons(AdvantageEstimator estimator, double scale) implements AdvantageEstimator {

        @Override
        public List<Advantages> estimate(List<Sample> group) {
            if (group.size() > 1 || !estimator.comparesGroup()) {
                return estimator.estimate(group);
            }
            Sample alone = group.get(0);
            return List.of(
                    estimator instanceof OptimalTokenBaseline
                            ? new RemaxAdvantage().estimate(withBaselineZero(alone))
                            : Advantages.constant(alone.score() * scale, alone.mask()));
        }

        private static Sample withBaselineZero(Sample sample) {
            double[] rewards = IntStream.range(0, sample.length())
                    .mapToDouble(sample::tokenReward)
                    .toArray();
            return Sample.of(sample.score(), rewards, sample.mask()).baseline(0).build();
        }

        @Override
        public BatchNormalization batchNormalization() {
            return estimator.batchNormalization();
        }

        @Override
        public boolean returnsAreAdvantages() {
            return estimator.returnsAreAdvantages();
        }
    }

    static Stream<Golden.Case> equal() {
        return cases().filter(golden -> !golden.raised() && !resetsReturn(golden));
    }

    @ParameterizedTest
    @MethodSource("equal")
    void equalsVerlAtSampledTokensAndIsZeroElsewhere(Golden.Case golden) {
        double[][] mask = golden.matrix("response_mask");
        Advantages[] actual = estimate(golden, verlLike(golden));

        assertThat(actual).hasSize(mask.length);
        for (int row = 0; row < actual.length; row++) {
            assertSampled(actual[row].advantages(), Golden.matrix(golden.out("advantages"))[row], mask[row]);
            assertSampled(actual[row].returns(), Golden.matrix(golden.out("returns"))[row], mask[row]);
        }
    }

    static Stream<Golden.Case> resetting() {
        return cases().filter(golden -> !golden.raised() && resetsReturn(golden));
    }

    /** The deliberate difference of reinforce_plus_plus: what verl has within a turn, plus what the later turns return. */
    @ParameterizedTest
    @MethodSource("resetting")
    void returnOfReinforcePlusPlusIsCarriedThroughHolesWhereVerlResetsIt(Golden.Case golden) {
        double[][] mask = golden.matrix("response_mask");
        double[][] verl = Golden.matrix(golden.out("returns"));
        double gamma = golden.config("gamma");
        Advantages[] actual = estimate(golden, estimator(golden));

        for (int row = 0; row < mask.length; row++) {
            double[] expected = new double[mask[row].length];
            double laterTurns = 0;
            for (int t = expected.length - 1; t >= 0; t--) {
                boolean lastOfTurn = t + 1 == expected.length || mask[row][t + 1] == 0;
                if (mask[row][t] != 0) {
                    laterTurns = gamma * (lastOfTurn ? nextReturn(expected, mask[row], t) : laterTurns);
                    expected[t] = verl[row][t] + laterTurns;
                }
            }
            Golden.assertClose(actual[row].returns(), expected, CANCELLATION);
        }
    }

    static Stream<Golden.Case> raising() {
        return cases().filter(Golden.Case::raised);
    }

    @ParameterizedTest
    @MethodSource("raising")
    void whereVerlRaisesThereIsNothingToCompareAndAdvantagesAreZero(Golden.Case golden) {
        double[][] mask = golden.matrix("response_mask");
        List<List<Integer>> groups = groups(golden);
        Advantages[] actual = estimate(golden, estimator(golden));

        for (List<Integer> group : groups) {
            boolean compares = golden.function().contains("passk") && group.size() > 1;
            for (int row : group) {
                assertThat(actual[row].advantages()).hasSize(mask[row].length);
                if (!compares) {
                    assertThat(actual[row].advantages()).containsOnly(0.0);
                }
            }
        }
    }

    @Test
    void everyReferenceCaseIsRun() {
        assertThat(cases()).hasSize(88);
        assertThat(Stream.of(equal(), resetting(), raising()).flatMap(c -> c)).hasSize(88);
        assertThat(resetting()).hasSize(2);
        assertThat(raising()).hasSize(5);
    }

    private static Stream<Golden.Case> cases() {
        return Stream.of("verl_adv_gae_grpo", "verl_adv_other").map(Golden::of).flatMap(Golden::cases);
    }

    private static boolean resetsReturn(Golden.Case golden) {
        return golden.function().equals("compute_reinforce_plus_plus_outcome_advantage")
                && Arrays.stream(golden.matrix("response_mask")).anyMatch(VerlAdvantagesTest::hasHole);
    }

    private static boolean hasHole(double[] mask) {
        int last =
                IntStream.range(0, mask.length).filter(t -> mask[t] != 0).max().orElse(-1);
        return IntStream.range(0, last).anyMatch(t -> mask[t] == 0);
    }

    private static double nextReturn(double[] returns, double[] mask, int from) {
        return IntStream.range(from + 1, mask.length)
                .filter(t -> mask[t] != 0)
                .mapToDouble(t -> returns[t])
                .findFirst()
                .orElse(0);
    }

    private static AdvantageEstimator verlLike(Golden.Case golden) {
        AdvantageEstimator estimator = estimator(golden);
        if (golden.function().equals("compute_rloo_vectorized_outcome_advantage")) {
            return estimator; // 0 for a group of one, as here
        }
        boolean divides = estimator instanceof GrpoAdvantage grpo && grpo.normalization() == BY_STD;
        return new WithVerlSingletons(estimator, divides ? 1 / (1 + 1e-6) : 1);
    }

    private static AdvantageEstimator estimator(Golden.Case golden) {
        return switch (golden.function()) {
            case "compute_gae_advantage_return" ->
                new GaeAdvantage(
                        golden.arg("gamma").asDouble(), golden.arg("lam").asDouble());
            case "compute_grpo_outcome_advantage", "compute_grpo_vectorized_outcome_advantage" ->
                new GrpoAdvantage(golden.arg("norm_adv_by_std_in_grpo").asBoolean() ? BY_STD : NONE);
            case "compute_grpo_passk_outcome_advantage" ->
                new GrpoPassKAdvantage(golden.flag("norm_adv_by_std_in_grpo") ? BY_STD : NONE);
            case "compute_rloo_outcome_advantage", "compute_rloo_vectorized_outcome_advantage" -> new RlooAdvantage();
            case "compute_opo_outcome_advantage" -> new OpoAdvantage();
            case "compute_gpg_outcome_advantage" -> new GpgAdvantage();
            case "compute_reinforce_plus_plus_baseline_outcome_advantage" -> new ReinforcePlusPlusBaselineAdvantage();
            case "compute_reinforce_plus_plus_outcome_advantage" ->
                new ReinforcePlusPlusAdvantage(golden.config("gamma"));
            case "compute_remax_outcome_advantage" -> new RemaxAdvantage();
            case "compute_optimal_token_baseline_advantage" -> new OptimalTokenBaseline(Steps.POSITIONS, tail(golden));
            case "compute_multi_turn_optimal_token_baseline_advantage" ->
                new OptimalTokenBaseline(Steps.SAMPLED_TOKENS, tail(golden));
            default -> throw new IllegalArgumentException("no estimator for " + golden.function());
        };
    }

    private static Tail tail(Golden.Case golden) {
        return golden.arg("handle_zero_tail").asBoolean() ? Tail.ZERO : Tail.OWN_RETURN;
    }

    private static Advantages[] estimate(Golden.Case golden, AdvantageEstimator estimator) {
        List<List<Integer>> groups = groups(golden);
        List<List<Sample>> samples = groups.stream()
                .map(rows -> rows.stream().map(row -> sample(golden, row)).toList())
                .toList();
        List<List<Advantages>> estimates = estimator.estimateBatch(samples);
        Advantages[] byRow = new Advantages[golden.matrix("response_mask").length];
        for (int g = 0; g < groups.size(); g++) {
            for (int i = 0; i < groups.get(g).size(); i++) {
                byRow[groups.get(g).get(i)] = estimates.get(g).get(i);
            }
        }
        return byRow;
    }

    /** verl's score sums all rewards, but its returns lose those at tokens that were not sampled: left out here to compare. */
    private static Sample sample(Golden.Case golden, int row) {
        double[] rewards = golden.matrix("token_level_rewards")[row];
        double[] mask = golden.matrix("response_mask")[row];
        double[] kept = IntStream.range(0, mask.length)
                .mapToDouble(t -> rewards[t] * mask[t])
                .toArray();
        Sample.Builder sample = Sample.of(Arrays.stream(rewards).sum(), kept, sampled(mask));
        if (golden.has("values")) {
            sample.values(golden.matrix("values")[row]);
        }
        if (golden.has("reward_baselines")) {
            sample.baseline(golden.arg("reward_baselines").get(row).asDouble());
        }
        if (golden.has("old_log_probs")) {
            sample.logProbs(golden.matrix("old_log_probs")[row])
                    .squaredProbabilities(golden.matrix("sum_pi_squared")[row]);
        }
        if (golden.has("rollout_is_weights")) {
            sample.importanceWeights(golden.matrix("rollout_is_weights")[row]);
        }
        return sample.build();
    }

    private static List<List<Integer>> groups(Golden.Case golden) {
        Map<String, List<Integer>> groups = new LinkedHashMap<>();
        JsonNode index = golden.arg("index");
        for (int row = 0; row < golden.matrix("response_mask").length; row++) {
            String group = index.isMissingNode() ? "all" : index.get(row).asText();
            groups.computeIfAbsent(group, name -> new ArrayList<>()).add(row);
        }
        return List.copyOf(groups.values());
    }

    private static void assertSampled(double[] actual, double[] expected, double[] mask) {
        double[] masked = IntStream.range(0, mask.length)
                .mapToDouble(t -> mask[t] == 0 ? 0 : expected[t])
                .toArray();
        for (int t = 0; t < mask.length; t++) {
            if (mask[t] == 0) {
                assertThat(actual[t]).isZero();
            }
        }
        Golden.assertClose(actual, masked, CANCELLATION);
    }

    private static boolean[] sampled(double[] mask) {
        boolean[] sampled = new boolean[mask.length];
        IntStream.range(0, mask.length).forEach(t -> sampled[t] = mask[t] != 0);
        return sampled;
    }
}
