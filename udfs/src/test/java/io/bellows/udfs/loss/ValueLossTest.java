package io.bellows.udfs.loss;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.bellows.udfs.Golden;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class ValueLossTest {
    private static final Sequences BATCH =
            Sequences.of(new int[] {0, 3, 5}, new boolean[] {true, false, true, true, true});

    static Stream<Golden.Case> reference() {
        return Golden.of("verl_kl_value_misc").cases("compute_value_loss");
    }

    @ParameterizedTest
    @MethodSource("reference")
    void lossGradientAndClipFractionEqualVerl(Golden.Case golden) {
        Sequences sequences = Batches.padded(golden, "response_mask");
        LossAggregation aggregation =
                LossAggregation.of(golden.arg("loss_agg_mode").asText());
        BatchTotals totals = BatchTotals.of(sequences, golden.matrix("response_mask")[0].length);

        ValueGradient actual = new ValueLoss(golden.arg("cliprange_value").asDouble(), aggregation)
                .compute(
                        sequences,
                        Golden.flat(golden.matrix("vpreds")),
                        Golden.flat(golden.matrix("values")),
                        Golden.flat(golden.matrix("returns")),
                        totals);

        double factor = Batches.referenceFactor(aggregation, totals, 1);
        double expected = Golden.number(golden.out("vf_loss"));
        // A fully masked batch: NaN in verl, 0 here.
        Golden.assertClose(actual.loss() * factor, Double.isNaN(expected) ? 0 : expected);
        Golden.assertClose(
                Arrays.stream(actual.dValue()).map(d -> d * factor).toArray(),
                Golden.flat(Golden.matrix(golden.out("grad_vpreds"))));
        if (sequences.sampledTokens() > 0) {
            Golden.assertClose(
                    actual.metrics().values().get("critic/vf_clipfrac"),
                    golden.out("vf_clipfrac").asDouble());
        } else {
            assertThat(actual.metrics().values()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(LossAggregation.class)
    void derivativeEqualsFiniteDifferences(LossAggregation aggregation) {
        Random random = new Random(3);
        Sequences sequences = Batches.random(random, 12);
        double[] values = Batches.values(random, sequences.tokens(), 0, 1);
        double[] oldValues = Batches.values(random, sequences.tokens(), 0, 1);
        double[] returns = Batches.values(random, sequences.tokens(), 0, 2);
        BatchTotals totals = BatchTotals.of(sequences, 12);
        ValueLoss loss = new ValueLoss(0.5, aggregation);
        double[] exact =
                loss.compute(sequences, values, oldValues, returns, totals).dValue();

        double h = 1e-5;
        for (int t = 0; t < values.length; t++) {
            double original = values[t];
            values[t] = original + h;
            double above =
                    loss.compute(sequences, values, oldValues, returns, totals).loss();
            values[t] = original - h;
            double below =
                    loss.compute(sequences, values, oldValues, returns, totals).loss();
            values[t] = original;
            assertThat(exact[t]).as("token %d", t).isCloseTo((above - below) / (2 * h), within(1e-7));
        }
    }

    @Test
    void metricsAreThoseOfTheSampledTokensAndMergeOverMicroBatches() {
        double[] values = {1, Double.NaN, 2, 3, 6};
        double[] oldValues = {1, Double.NaN, 2, 3, 4};
        double[] returns = {2, Double.NaN, 4, 5, 5};
        BatchTotals totals = BatchTotals.of(BATCH, 1);
        ValueLoss loss = new ValueLoss(0.5, LossAggregation.TOKEN_MEAN);

        ValueGradient whole = loss.compute(BATCH, values, oldValues, returns, totals);

        // Errors −1, −2, −2 and 1; the last value is clipped to 4.5, whose error is the smaller, so the clip is not
        // active.
        assertThat(whole.loss()).isCloseTo((0.5 + 2 + 2 + 0.5) / 4, within(1e-12));
        assertThat(whole.dValue()).containsExactly(-0.25, 0, -0.5, -0.5, 0.25);
        // Var R = 2 and Var(R − V_old) = 1/3.
        assertThat(whole.metrics().values())
                .containsEntry("critic/vf_loss", 1.25)
                .containsEntry("critic/vf_clipfrac", 0.0)
                .containsEntry("critic/vpred_mean", 3.0)
                .hasEntrySatisfying(
                        "critic/vf_explained_var",
                        value -> assertThat(value).isCloseTo(1 - 1 / 3.0 / (2 + 1e-5), within(1e-12)));

        Sequences first = Sequences.of(new int[] {0, 3}, new boolean[] {true, false, true});
        Sequences second = Sequences.of(new int[] {0, 2}, new boolean[] {true, true});
        ValueGradient one = loss.compute(
                first,
                Arrays.copyOfRange(values, 0, 3),
                Arrays.copyOfRange(oldValues, 0, 3),
                Arrays.copyOfRange(returns, 0, 3),
                totals);
        ValueGradient two = loss.compute(
                second,
                Arrays.copyOfRange(values, 3, 5),
                Arrays.copyOfRange(oldValues, 3, 5),
                Arrays.copyOfRange(returns, 3, 5),
                totals);
        assertThat(one.loss() + two.loss()).isCloseTo(whole.loss(), within(1e-12));
        one.metrics()
                .merge(two.metrics())
                .values()
                .forEach((name, value) -> assertThat(value)
                        .as(name)
                        .isCloseTo(whole.metrics().values().get(name), within(1e-12)));
    }

    @Test
    void valueThatMovedTooFarTowardsItsReturnHasNoGradient() {
        Sequences one = Sequences.of(new int[] {0, 1}, new boolean[] {true});

        ValueGradient actual = new ValueLoss(0.5, LossAggregation.TOKEN_MEAN)
                .compute(one, new float[] {3}, new float[] {1}, new float[] {4}, BatchTotals.of(one, 1));

        assertThat(actual.loss()).isEqualTo(0.5 * 2.5 * 2.5);
        assertThat(actual.dValue()).containsExactly(0);
        assertThat(actual.metrics().values())
                .containsEntry("critic/vf_clipfrac", 1.0)
                .doesNotContainKey("critic/vf_explained_var"); // of a single pair there is no variance
    }

    @Test
    void rangesAndShapesAreChecked() {
        assertThatThrownBy(() -> new ValueLoss(0, LossAggregation.TOKEN_MEAN))
                .hasMessage("Invalid cliprange_value 0.0: it must be above 0");
        assertThatThrownBy(() -> new ValueLoss(0.5, LossAggregation.TOKEN_MEAN)
                        .compute(BATCH, new double[5], new double[4], new double[5], BatchTotals.of(BATCH, 1)))
                .hasMessage("Invalid oldValues: 4 values for 5 tokens");
    }
}
