package io.bellows.udfs.statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PassHatKTest {

    @ParameterizedTest
    @CsvSource({"4, 2, 1, 0.5", "4, 2, 2, 0.16666666666666666", "4, 2, 3, 0", "4, 4, 4, 1", "4, 0, 1, 0", "5, 3, 2, 0.3"
    })
    void itIsTheShareOfSubsetsWithoutAWrongSample(int samples, int correct, int k, double expected) {
        assertThat(PassHatK.estimate(samples, correct, k)).isCloseTo(expected, within(1e-15));
    }

    /** All of k are right exactly when none of k is wrong. */
    @Test
    void itComplementsPassAtKOfTheWrongOnes() {
        for (int correct = 0; correct <= 9; correct++) {
            for (int k = 1; k <= 9; k++) {
                assertThat(PassHatK.estimate(9, correct, k))
                        .isCloseTo(1 - PassAtK.estimate(9, 9 - correct, k), within(1e-14));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"3, 1, 4", "3, 1, 0", "3, 4, 1", "3, -1, 1"})
    void numbersOutOfTheirRangeAreRefused(int samples, int correct, int k) {
        assertThatThrownBy(() -> PassHatK.estimate(samples, correct, k)).hasMessageStartingWith("Invalid ");
    }
}
