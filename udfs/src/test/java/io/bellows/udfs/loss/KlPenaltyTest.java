package io.bellows.udfs.loss;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.bellows.udfs.Golden;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class KlPenaltyTest {

    static Stream<Golden.Case> reference() {
        return Golden.of("verl_kl_value_misc").cases("kl_penalty").filter(golden -> !golden.raised());
    }

    @ParameterizedTest
    @MethodSource("reference")
    void valueEqualsVerl(Golden.Case golden) {
        KlPenalty kind = KlPenalty.of(golden.arg("kl_penalty").asText());
        double[] logProbs = Golden.flat(golden.matrix("logprob"));
        double[] refLogProbs = Golden.flat(golden.matrix("ref_logprob"));

        Golden.assertClose(
                Batches.fill(logProbs.length, t -> kind.value(logProbs[t], refLogProbs[t])),
                Golden.flat(Golden.matrix(golden.out("value"))));
    }

    static Stream<Golden.Case> rewards() {
        return Golden.of("verl_kl_value_misc").cases("compute_rewards");
    }

    @ParameterizedTest
    @MethodSource("rewards")
    void rewardsLessDivergenceEqualVerl(Golden.Case golden) {
        double[] scores = Golden.flat(golden.matrix("token_level_scores"));
        double[] logProbs = Golden.flat(golden.matrix("old_log_prob"));
        double[] refLogProbs = Golden.flat(golden.matrix("ref_log_prob"));
        double coefficient = golden.arg("kl_ratio").asDouble();

        Golden.assertClose(
                Batches.fill(
                        scores.length, t -> scores[t] - coefficient * KlPenalty.K1.value(logProbs[t], refLogProbs[t])),
                Golden.flat(Golden.matrix(golden.out("rewards"))));
    }

    @ParameterizedTest
    @EnumSource(
            value = KlPenalty.class,
            names = {"K1", "ABS", "K2", "K3", "K2_PLUS"})
    void derivativeEqualsFiniteDifferences(KlPenalty kind) {
        double h = 1e-6;
        // The last two are beyond the clamps of k3.
        for (double d : new double[] {-1.7, -0.3, 0.01, 0.4, 2.2, -4, 25}) {
            double numeric = (kind.value(-2 + d + h, -2) - kind.value(-2 + d - h, -2)) / (2 * h);
            assertThat(kind.derivative(-2 + d, -2)).as("d = %s", d).isCloseTo(numeric, within(1e-7));
        }
    }

    /** verl at the commit of the reference values raises for these; the formulas are those of its later versions. */
    @Test
    void plusKindsHaveTheValueOfTheirBaseAndTheDerivativeOfK2() {
        assertThat(KlPenalty.of("k3+").value(-1, -1.5)).isEqualTo(KlPenalty.K3.value(-1, -1.5));
        assertThat(KlPenalty.of("k3+").value(-1, -1.5)).isCloseTo(0.10653066, within(1e-8));
        assertThat(KlPenalty.of("k3+").derivative(-1, -1.5)).isEqualTo(0.5);
        assertThat(KlPenalty.of("k1+").value(-1, -1.5)).isEqualTo(0.5);
        assertThat(KlPenalty.of("kl+").derivative(-1, -1.5)).isEqualTo(0.5);
        assertThat(KlPenalty.of("abs+").value(-1.5, -1)).isEqualTo(0.5);
        assertThat(KlPenalty.of("abs+").derivative(-1.5, -1)).isEqualTo(-0.5);
        assertThat(KlPenalty.of("mse+").value(-1, -1.5)).isEqualTo(0.125);
        assertThat(KlPenalty.of("low_var_kl+")).isEqualTo(KlPenalty.K3_PLUS);
    }

    @Test
    void k3KeepsItsDigitsWhereThePoliciesAreClose() {
        assertThat(KlPenalty.K3.value(-1, -1 - 1e-6)).isCloseTo(0.5e-12, within(1e-17));
    }

    @ParameterizedTest
    @ValueSource(strings = {"full", "nonsense", "K1"})
    void unknownKindIsRefusedWithTheKnownOnes(String name) {
        assertThatThrownBy(() -> KlPenalty.of(name))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Unsupported KL penalty '" + name + "': use one of kl, k1, abs, mse, k2,")
                .hasMessageContaining("low_var_kl+");
    }
}
