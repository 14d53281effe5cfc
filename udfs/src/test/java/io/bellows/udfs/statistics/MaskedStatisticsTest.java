package io.bellows.udfs.statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.bellows.udfs.Golden;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class MaskedStatisticsTest {

    static Stream<Golden.Case> reference() {
        return Golden.of("verl_kl_value_misc")
                .cases()
                .filter(golden -> golden.function().startsWith("masked_"));
    }

    @ParameterizedTest
    @MethodSource("reference")
    void equalsVerl(Golden.Case golden) {
        double[][] values = golden.matrix("values");
        double[][] weights = golden.matrix("mask");
        if (golden.has("axis")) {
            double[] expected = Golden.numbers(golden.out("out"));
            for (int row = 0; row < values.length; row++) {
                assertClose(statistic(golden, values[row], mask(weights[row])), expected[row]);
            }
        } else if (golden.function().equals("masked_whiten")) {
            whitenedEqualsVerl(golden, Golden.flat(values), mask(Golden.flat(weights)));
        } else {
            // The deliberate difference: where verl raises, there is no spread.
            double expected = golden.raised() ? 0 : Golden.number(golden.out("out"));
            assertClose(statistic(golden, Golden.flat(values), mask(Golden.flat(weights))), expected);
        }
    }

    private static void whitenedEqualsVerl(Golden.Case golden, double[] values, boolean[] mask) {
        double[] actual = MaskedStatistics.whiten(values, mask);
        if (golden.raised()) {
            assertThat(actual).containsOnly(0.0); // the deliberate difference
            return;
        }
        double shift = golden.arg("shift_mean").asBoolean() ? 0 : MaskedStatistics.mean(values, mask);
        double[] verl = Golden.flat(Golden.matrix(golden.out("out")));
        for (int t = 0; t < verl.length; t++) {
            // The deliberate difference: 0 outside the mask.
            assertThat(actual[t]).isCloseTo(mask[t] ? verl[t] - shift : 0, within(1e-5));
        }
    }

    private static double statistic(Golden.Case golden, double[] values, boolean[] mask) {
        return switch (golden.function()) {
            case "masked_sum" -> MaskedStatistics.sum(values, mask);
            case "masked_mean" -> MaskedStatistics.mean(values, mask);
            case "masked_var" ->
                golden.arg("unbiased").asBoolean(true)
                        ? MaskedStatistics.variance(values, mask)
                        : biased(Moments.of(values, mask));
            default -> throw new IllegalArgumentException(golden.function());
        };
    }

    private static double biased(Moments moments) {
        return moments.count() == 0 ? 0 : moments.squares() / moments.count();
    }

    private static void assertClose(double actual, double expected) {
        Golden.assertClose(new double[] {actual}, new double[] {expected}, 1e-6);
    }

    private static boolean[] mask(double[] weights) {
        boolean[] mask = new boolean[weights.length];
        IntStream.range(0, mask.length).forEach(t -> mask[t] = weights[t] != 0);
        return mask;
    }

    @Test
    void whatIsOutsideTheMaskIsNeverRead() {
        double[] values = {1, Double.NaN, 3};
        boolean[] mask = {true, false, true};

        assertThat(MaskedStatistics.sum(values, mask)).isEqualTo(4);
        assertThat(MaskedStatistics.mean(values, mask)).isEqualTo(2);
        assertThat(MaskedStatistics.variance(values, mask)).isEqualTo(2);
        assertThat(MaskedStatistics.whiten(values, mask)[1]).isZero();
    }

    @Test
    void equalValuesAreWhitenedToExactlyZero() {
        // Three times 0.1 sum to more than 0.3: the residue over the tiny deviation would be seen.
        assertThat(MaskedStatistics.whiten(new double[] {0.1, 0.1, 0.1}, new boolean[] {true, true, true}))
                .containsExactly(0, 0, 0);
    }

    @Test
    void momentsOfPartsMergeToThoseOfTheWhole() {
        Random random = new Random(5);
        for (int trial = 0; trial < 50; trial++) {
            double[] values = random.doubles(30, 1e6, 1e6 + 1).toArray();
            boolean[] mask = mask(
                    IntStream.range(0, 30).mapToDouble(t -> random.nextInt(2)).toArray());
            boolean[] first = mask.clone();
            boolean[] second = mask.clone();
            int cut = random.nextInt(31);
            IntStream.range(0, 30).forEach(t -> (t < cut ? second : first)[t] = false);

            Moments whole = Moments.of(values, mask);
            Moments merged = Moments.of(values, first).merge(Moments.of(values, second));

            assertThat(merged.count()).isEqualTo(whole.count());
            assertThat(merged.mean()).isCloseTo(whole.mean(), within(1e-8));
            assertThat(merged.variance()).isCloseTo(whole.variance(), within(1e-9));
        }
    }

    @Test
    void aMaskOfAnotherLengthIsRefused() {
        assertThatThrownBy(() -> MaskedStatistics.mean(new double[2], new boolean[3]))
                .hasMessage("Invalid mask: 3 entries for 2 values; give one entry per value");
    }
}
