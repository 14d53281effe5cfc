package io.bellows.udfs.advantage;

import static io.bellows.udfs.advantage.GrpoAdvantage.Normalization.BY_STD;
import static io.bellows.udfs.advantage.GrpoAdvantage.Normalization.NONE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class GrpoAdvantageTest {

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
}
