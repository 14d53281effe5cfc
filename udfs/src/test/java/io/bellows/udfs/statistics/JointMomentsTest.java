package io.bellows.udfs.statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import org.junit.jupiter.api.Test;

class JointMomentsTest {

    private static boolean[] all(int count) {
        boolean[] mask = new boolean[count];
        java.util.Arrays.fill(mask, true);
        return mask;
    }

    @Test
    void theCorrelationIsPearsons() {
        JointMoments moments = JointMoments.of(
                new double[] {1, 2, 3, 99}, new double[] {2, 1, 4, 5}, new boolean[] {true, true, true, false});
        assertThat(moments.left().mean()).isEqualTo(2);
        assertThat(moments.products()).isCloseTo(2, within(1e-12));
        assertThat(moments.correlation()).isCloseTo(2 / Math.sqrt(2 * 14 / 3.0), within(1e-12));
    }

    @Test
    void partsMergedAreTheWhole() {
        Random random = new Random(4);
        double[] left = random.doubles(100).toArray();
        double[] right = random.doubles(100).toArray();
        JointMoments merged = JointMoments.NONE;
        for (int part = 0; part < 4; part++) {
            boolean[] mask = new boolean[100];
            java.util.Arrays.fill(mask, part * part * 10, part == 3 ? 100 : (part + 1) * (part + 1) * 10, true);
            merged = merged.merge(JointMoments.of(left, right, mask)).merge(JointMoments.NONE);
        }
        JointMoments whole = JointMoments.of(left, right, all(100));
        assertThat(merged.left().count()).isEqualTo(100);
        assertThat(merged.correlation()).isCloseTo(whole.correlation(), within(1e-12));
        assertThat(merged.products()).isCloseTo(whole.products(), within(1e-12));
    }

    @Test
    void constantValuesHaveNoCorrelation() {
        assertThat(JointMoments.of(new double[] {0.1, 0.1}, new double[] {1, 2}, all(2))
                        .correlation())
                .isNaN();
        assertThat(JointMoments.NONE.correlation()).isNaN();
    }

    @Test
    void arraysOfDifferentLengthsAreRefused() {
        assertThatThrownBy(() -> JointMoments.of(new double[2], new double[1], new boolean[2]))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
