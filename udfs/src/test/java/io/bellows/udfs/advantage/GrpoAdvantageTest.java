package io.bellows.udfs.advantage;

import static io.bellows.udfs.advantage.GrpoAdvantage.Normalization.BY_STD;
import static io.bellows.udfs.advantage.GrpoAdvantage.Normalization.NONE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.bellows.udfs.Golden;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class GrpoAdvantageTest {

    static Stream<Golden.Case> reference() {
        Golden golden = Golden.of("verl_adv_gae_grpo");
        return Stream.concat(
                golden.cases("compute_grpo_outcome_advantage"),
                golden.cases("compute_grpo_vectorized_outcome_advantage"));
    }

    @ParameterizedTest
    @MethodSource("reference")
    void equalsVerlOnGroupsOfTwoAndMore(Golden.Case golden) {
        double[][] rewards = golden.matrix("token_level_rewards");
        double[][] mask = golden.matrix("response_mask");
        double[][] expected = Golden.matrix(golden.out("advantages"));
        GrpoAdvantage.Normalization normalization =
                golden.arg("norm_adv_by_std_in_grpo").asBoolean() ? BY_STD : NONE;

        for (List<Integer> rows : groups(golden.arg("index"))) {
            double[] scores = rows.stream()
                    .mapToDouble(row -> Arrays.stream(rewards[row]).sum())
                    .toArray();
            double[] advantages = GrpoAdvantage.advantages(scores, normalization);
            for (int i = 0; i < advantages.length; i++) {
                double[] tokens = GrpoAdvantage.toTokens(advantages[i], sampled(mask[rows.get(i)]));
                if (rows.size() == 1) {
                    // The deliberate difference below: verl has the raw reward here.
                    assertThat(tokens).containsOnly(0.0);
                } else {
                    Golden.assertClose(tokens, expected[rows.get(i)]);
                }
            }
        }
    }

    @Test
    void groupOfEqualRewardsHasAdvantagesOfExactlyZero() {
        // The mean of three times 0.1 is not 0.1 in floating point: verl divides the residue by 1e-6.
        assertThat(GrpoAdvantage.advantages(new double[] {0.1, 0.1, 0.1}, BY_STD))
                .containsExactly(0, 0, 0);
        assertThat(GrpoAdvantage.advantages(new double[] {0.1, Double.NaN, 0.1, 0.1}, NONE))
                .containsExactly(0, 0, 0, 0);
    }

    @Test
    void groupWithOneValidRewardHasAdvantageZeroAndIsASingleton() {
        double[] oneOfThree = {Double.NaN, 2.0, Double.NaN};

        assertThat(GrpoAdvantage.advantages(oneOfThree, BY_STD)).containsExactly(0, 0, 0);
        assertThat(GrpoAdvantage.advantages(new double[] {2.0}, NONE)).containsExactly(0);
        assertThat(GroupStatistics.of(oneOfThree).isSingleton()).isTrue();
        assertThat(GroupStatistics.of(new double[] {1, 1}).isSingleton()).isFalse();
    }

    @Test
    void failedTrajectoryChangesNothingButItsOwnAbsence() {
        double[] without = GrpoAdvantage.advantages(new double[] {1, 0, 0.25}, BY_STD);
        double[] with =
                GrpoAdvantage.advantages(new double[] {Double.NaN, 1, 0, Double.POSITIVE_INFINITY, 0.25}, BY_STD);

        assertThat(with).containsExactly(0, without[0], without[1], 0, without[2]);
    }

    @Test
    void emptyResponseCountsInItsGroupAndHasNoToken() {
        double[] advantages = GrpoAdvantage.advantages(new double[] {1, 0}, NONE);

        assertThat(advantages).containsExactly(0.5, -0.5);
        assertThat(GrpoAdvantage.toTokens(advantages[1], new boolean[0])).isEmpty();
    }

    @Test
    void tokensThatWereNotSampledHaveAdvantageZero() {
        assertThat(GrpoAdvantage.toTokens(0.5, new boolean[] {true, false, true}))
                .containsExactly(0.5, 0, 0.5);
    }

    @Test
    void statisticsOfAGroupAreUnbiasedAndTwoPass() {
        // One pass in double precision would lose all digits of this variance.
        GroupStatistics group = GroupStatistics.of(new double[] {1e9 + 1, 1e9 + 2, Double.NaN, 1e9 + 3});

        assertThat(group.valid()).isEqualTo(3);
        assertThat(group.mean()).isEqualTo(1e9 + 2);
        assertThat(group.std()).isCloseTo(1, within(1e-12));
        assertThat(group.min()).isEqualTo(1e9 + 1);
        assertThat(group.max()).isEqualTo(1e9 + 3);
    }

    @Test
    void groupWithoutAValidRewardHasNoMeanAndIsUniform() {
        GroupStatistics group = GroupStatistics.of(new double[] {Double.NaN});

        assertThat(group.valid()).isZero();
        assertThat(group.mean()).isNaN();
        assertThat(group.isUniform()).isTrue();
        assertThat(group.isSingleton()).isFalse();
    }

    private static Iterable<List<Integer>> groups(JsonNode index) {
        Map<String, List<Integer>> groups = new LinkedHashMap<>();
        IntStream.range(0, index.size())
                .forEach(row -> groups.merge(
                        index.get(row).asText(),
                        List.of(row),
                        (a, b) -> Stream.concat(a.stream(), b.stream()).toList()));
        return groups.values();
    }

    private static boolean[] sampled(double[] mask) {
        boolean[] sampled = new boolean[mask.length];
        IntStream.range(0, mask.length).forEach(t -> sampled[t] = mask[t] != 0);
        return sampled;
    }
}
