package io.bellows.udfs.statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class PassAtKTest {

    @Test
    void equalsTheShareOfSubsetsWithACorrectSample() {
        for (int samples = 1; samples <= 8; samples++) {
            for (int correct = 0; correct <= samples; correct++) {
                for (int k = 1; k <= samples; k++) {
                    assertThat(PassAtK.estimate(samples, correct, k))
                            .isCloseTo(shareOfSubsets(samples, correct, k), within(1e-12));
                }
            }
        }
    }

    @Test
    void staysExactForManySamples() {
        assertThat(PassAtK.estimate(100_000, 1, 50_000)).isCloseTo(0.5, within(1e-9));
    }

    @Test
    void meanIsOverProblems() {
        assertThat(PassAtK.mean(new int[] {4, 2}, new int[] {1, 2}, 1)).isEqualTo((0.25 + 1) / 2);
        assertThat(PassAtK.mean(new int[0], new int[0], 1)).isNaN();
    }

    @Test
    void impossibleNumbersAreRefused() {
        assertThatThrownBy(() -> PassAtK.estimate(4, 1, 8))
                .hasMessage("Invalid k 8 with 4 samples: pass@k needs k from 1 to the number of samples");
        assertThatThrownBy(() -> PassAtK.estimate(4, 5, 1))
                .hasMessage("Invalid number of correct samples 5: there are 4 samples");
        assertThatThrownBy(() -> PassAtK.mean(new int[2], new int[1], 1)).hasMessageStartingWith("Invalid counts");
    }

    private static double shareOfSubsets(int samples, int correct, int k) {
        int subsets = 0;
        int solving = 0;
        for (int subset = 0; subset < 1 << samples; subset++) {
            if (Integer.bitCount(subset) == k) {
                subsets++;
                // The correct samples are the first ones.
                solving += (subset & ((1 << correct) - 1)) != 0 ? 1 : 0;
            }
        }
        return (double) solving / subsets;
    }
}
