package io.bellows.udfs.advantage;

import static io.bellows.udfs.advantage.GrpoAdvantage.Normalization.BY_STD;
import static io.bellows.udfs.advantage.GrpoAdvantage.Normalization.NONE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.bellows.udfs.advantage.OptimalTokenBaseline.Steps;
import io.bellows.udfs.advantage.OptimalTokenBaseline.Tail;
import java.util.List;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The deliberate differences from verl, each with the value that is right. */
class AdvantageDifferencesTest {

    private static final boolean[] ANSWER = {true, true};
    private static final boolean[] TOOL_TEXT_LAST = {true, true, false};
    private static final boolean[] TOOL_TEXT_BETWEEN = {true, false, true};

    private static AdvantageEstimator named(String name) {
        return AdvantageRegistry.create(name, new AdvantageRegistry.Settings(BY_STD, 1, 1, List.of(1.0)));
    }

    private static Sample sample(double score, double[] rewards, boolean[] mask) {
        double[] zeros = new double[mask.length];
        return Sample.of(score, rewards, mask)
                .values(zeros)
                .logProbs(filled(mask.length, -1))
                .squaredProbabilities(filled(mask.length, 0.5))
                .rewards(new double[] {score})
                .baseline(0)
                .build();
    }

    private static double[] filled(int length, double value) {
        return DoubleStream.generate(() -> value).limit(length).toArray();
    }

    @Test
    void returnOfReinforcePlusPlusRunsThroughToolText() {
        Sample sample = sample(1, new double[] {0, 0, 1}, TOOL_TEXT_BETWEEN);

        assertThat(new ReinforcePlusPlusAdvantage(0.5).estimate(sample).returns())
                .containsExactly(0.5, 0, 1); // verl: 0, 0, 1
    }

    @Test
    void advantagesAtMaskedPositionsAreZeroAfterWhitening() {
        Sample sample = sample(1, new double[] {1, 0, 2}, TOOL_TEXT_BETWEEN);

        double[] advantages = new GaeAdvantage(0, 0)
                .estimateBatch(List.of(List.of(sample)))
                .get(0)
                .get(0)
                .advantages();

        assertThat(advantages[1]).isZero();
        assertThat(advantages[0]).isCloseTo(-Math.sqrt(0.5), within(1e-7));
        assertThat(advantages[2]).isCloseTo(Math.sqrt(0.5), within(1e-7));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"gae", "reinforce_plus_plus", "remax", "optimal_token_baseline", "tir_optimal_token_baseline"})
    void rewardAfterToolTextCountsAtTheLastSampledTokenBeforeIt(String name) {
        Sample late = sample(3, new double[] {0, 1, 2}, TOOL_TEXT_LAST);
        Sample other = sample(0, new double[] {0, 0, 0}, TOOL_TEXT_LAST);

        assertThat(named(name).estimate(List.of(late, other)).get(0).returns()).containsExactly(3, 3, 0);
    }

    @Test
    void rewardBeforeTheFirstSampledTokenCountsInTheScoreAlone() {
        Sample sample = sample(5, new double[] {5, 0}, new boolean[] {false, true});

        assertThat(new RemaxAdvantage().estimate(sample).returns()).containsExactly(0, 0);
        assertThat(named("grpo")
                        .estimate(List.of(sample, Sample.outcome(3, ANSWER)))
                        .get(0)
                        .advantages()[1])
                .isCloseTo(Math.sqrt(0.5), within(1e-6));
    }

    @ParameterizedTest
    @ValueSource(strings = {"gae", "reinforce_plus_plus", "reinforce_plus_plus_baseline", "gdpo"})
    void whiteningOfASingleTokenIsItsDifferenceFromTheMean(String name) {
        Sample alone = sample(3, new double[] {3}, new boolean[] {true});

        assertThat(named(name)
                        .estimateBatch(List.of(List.of(alone)))
                        .get(0)
                        .get(0)
                        .advantages())
                .containsExactly(0.0); // verl raises
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "grpo",
                "grpo_passk",
                "rloo",
                "opo",
                "gpg",
                "reinforce_plus_plus_baseline",
                "gdpo",
                "optimal_token_baseline",
                "tir_optimal_token_baseline"
            })
    void aGroupWithOneValidRowHasAdvantageZero(String name) {
        Sample valid = sample(2, new double[] {0, 0, 2}, TOOL_TEXT_BETWEEN);
        Sample failed = sample(Double.NaN, new double[] {0, 0, 0}, TOOL_TEXT_BETWEEN);

        assertThat(named(name).comparesGroup()).isTrue();
        assertThat(named(name).estimate(List.of(valid, failed)))
                .allSatisfy(estimate -> assertThat(estimate.advantages()).containsOnly(0.0));
    }

    @ParameterizedTest
    @ValueSource(strings = {"grpo", "grpo_passk", "rloo", "opo", "gpg", "reinforce_plus_plus_baseline", "gdpo"})
    void aGroupOfEqualScoresHasAdvantagesOfExactlyZero(String name) {
        List<Sample> group = List.of(
                sample(0.1, new double[] {0, 0, 0.1}, TOOL_TEXT_BETWEEN),
                sample(0.1, new double[] {0, 0.1, 0}, TOOL_TEXT_LAST),
                sample(0.1, new double[] {0, 0, 0.1}, TOOL_TEXT_BETWEEN));

        assertThat(named(name).estimate(group))
                .allSatisfy(estimate -> assertThat(estimate.advantages()).containsOnly(0.0));
    }

    @ParameterizedTest
    @ValueSource(strings = {"grpo", "rloo", "gpg", "reinforce_plus_plus_baseline", "gdpo"})
    void anEmptyResponseCountsInItsGroupAndHasNoToken(String name) {
        Sample empty = Sample.of(0, new double[0], new boolean[0])
                .rewards(new double[] {0})
                .build();
        Sample good = Sample.of(1, new double[] {0, 1}, ANSWER)
                .rewards(new double[] {1})
                .build();

        List<Advantages> estimates = named(name).estimate(List.of(good, empty));

        assertThat(estimates.get(0).advantages()[0]).isPositive();
        assertThat(estimates.get(1).advantages()).isEmpty();
    }

    @Test
    void lengthOfAnEmptyResponseHasNoWeightInOpo() {
        assertThat(OpoAdvantage.advantages(new double[] {1, 0, Double.NaN}, new double[] {4, 0, 9}))
                .containsExactly(0, -1, 0);
        assertThat(OpoAdvantage.advantages(new double[] {1, 0}, new double[] {0, 0}))
                .containsExactly(1, 0);
    }

    @Test
    void aTrajectoryWhoseGreedyResponseFailedHasAdvantageZero() {
        Sample sample =
                Sample.of(1, new double[] {0, 1}, ANSWER).baseline(Double.NaN).build();

        assertThat(new RemaxAdvantage().estimate(sample).advantages()).containsExactly(0, 0);
    }

    @Test
    void gdpoGivesEachRewardTheSameSay() {
        // The second reward moves by thousandths; summed first, as grpo does, the order of its samples would not show.
        List<Sample> group = List.of(gdpo(1, 0.001), gdpo(1, 0.002), gdpo(0, 0.001), gdpo(0, 0.002));

        List<Advantages> estimates = new GdpoAdvantage(BY_STD, List.of(1.0, 1.0))
                .estimateBatch(List.of(group))
                .get(0);

        assertThat(estimates.get(0).advantages()[0]).isCloseTo(0, within(1e-2));
        assertThat(estimates.get(1).advantages()[0]).isCloseTo(Math.sqrt(8 * 7 / 4 / 8.0), within(1e-2));
        assertThat(estimates.get(2).advantages()[0]).isCloseTo(-estimates.get(1).advantages()[0], within(1e-9));
    }

    private static Sample gdpo(double first, double second) {
        return Sample.of(first + second, new double[] {0, first + second}, ANSWER)
                .rewards(new double[] {first, second})
                .build();
    }

    @Test
    void aTrajectoryThatLacksAGdpoRewardIsAbsent() {
        assertThat(gdpo(1, Double.NaN).isAbsent()).isTrue();
        List<Advantages> with = new GdpoAdvantage(NONE, List.of(1.0, 1.0))
                .estimate(List.of(gdpo(1, 2), gdpo(0, 1), gdpo(7, Double.NaN)));
        assertThat(with.get(0).advantages()).containsExactly(1, 1);
        assertThat(with.get(2).advantages()).containsExactly(0, 0);
    }

    @Test
    void theBaselineOfPositionsIsShiftedByToolTextAndThatOfSampledTokensIsNot() {
        List<Sample> group = List.of(
                sample(3, new double[] {1, 0, 2}, TOOL_TEXT_BETWEEN),
                sample(1, new double[] {0, 1, 0}, TOOL_TEXT_LAST));

        assertThat(new OptimalTokenBaseline(Steps.SAMPLED_TOKENS, Tail.OWN_RETURN)
                        .estimate(group)
                        .get(1)
                        .advantages()[1])
                .isCloseTo(1 - 1.5, within(1e-6));
        assertThat(new OptimalTokenBaseline(Steps.POSITIONS, Tail.OWN_RETURN)
                        .estimate(group)
                        .get(1)
                        .advantages()[1])
                .isCloseTo(0, within(1e-6));
    }

    @Test
    void whatAnEstimatorNeedsAndDoesNotGetIsNamed() {
        Sample bare = Sample.outcome(1, ANSWER);

        assertThatThrownBy(() -> named("gae").estimate(List.of(bare)))
                .hasMessageStartingWith("Cannot estimate advantages: the sample has no values of a critic");
        assertThatThrownBy(() -> named("tir_optimal_token_baseline").estimate(List.of(bare, bare)))
                .hasMessageStartingWith("Cannot estimate advantages: the sample has no log-probs");
        assertThatThrownBy(() -> named("ppo"))
                .hasMessageStartingWith("Unsupported advantage estimator 'ppo': use one of gae, gdpo, gpg, grpo");
        assertThatThrownBy(() -> Sample.of(1, new double[3], ANSWER))
                .hasMessage("Invalid token rewards: 3 for 2 tokens; give one per token");
    }
}
