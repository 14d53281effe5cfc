package io.bellows.udfs.loss;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.bellows.udfs.Golden;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class LossAggregationTest {
    /** Two sequences of three and one sampled tokens, a tool token between, and one that is empty. */
    private static final Sequences BATCH =
            Sequences.of(new int[] {0, 4, 5, 5}, new boolean[] {true, true, false, true, true});

    static Stream<Golden.Case> reference() {
        return Golden.of("verl_kl_value_misc").cases("agg_loss").filter(golden -> !golden.raised());
    }

    @ParameterizedTest
    @MethodSource("reference")
    void equalsVerl(Golden.Case golden) {
        Sequences sequences = Batches.padded(golden, "loss_mask");
        double[] losses = Golden.flat(golden.matrix("loss_mat"));
        LossAggregation mode = LossAggregation.of(golden.arg("loss_agg_mode").asText());

        BatchTotals totals = totals(golden, sequences);

        double aggregated = aggregate(losses, mode.weights(sequences, totals));

        double expected = Golden.number(golden.out("loss"));
        double factor =
                Batches.referenceFactor(mode, totals, golden.arg("dp_size").asDouble(1));
        // A fully masked batch: NaN in verl, 0 here.
        Golden.assertClose(aggregated * factor, Double.isNaN(expected) ? 0 : expected);
    }

    private static BatchTotals totals(Golden.Case golden, Sequences sequences) {
        JsonNode width = golden.arg("loss_mat").get(0);
        return golden.has("batch_num_tokens")
                ? new BatchTotals(
                        golden.arg("batch_num_tokens").asLong(),
                        golden.arg("global_batch_size").asLong(),
                        golden.arg("loss_scale_factor").asDouble())
                : BatchTotals.of(sequences, width.size());
    }

    @Test
    void weightsAreThoseOfTheFormulas() {
        BatchTotals totals = BatchTotals.of(BATCH, 10);

        assertThat(totals).isEqualTo(new BatchTotals(4, 2, 10));
        assertThat(LossAggregation.TOKEN_MEAN.weights(BATCH, totals)).containsExactly(0.25, 0.25, 0, 0.25, 0.25);
        assertThat(LossAggregation.TOKEN_SUM.weights(BATCH, totals)).containsExactly(1, 1, 0, 1, 1);
        assertThat(LossAggregation.SEQ_MEAN_TOKEN_SUM.weights(BATCH, totals)).containsExactly(0.5, 0.5, 0, 0.5, 0.5);
        assertThat(LossAggregation.SEQ_MEAN_TOKEN_MEAN.weights(BATCH, totals))
                .containsExactly(1 / 6.0, 1 / 6.0, 0, 1 / 6.0, 0.5);
        assertThat(LossAggregation.SEQ_MEAN_TOKEN_SUM_NORM.weights(BATCH, totals))
                .containsExactly(0.05, 0.05, 0, 0.05, 0.05);
    }

    @Test
    void aSequenceThatIsMaskedWhollyIsInNoDenominator() {
        boolean[] mask = {true, true, true, true, false, false, false, false};
        Sequences sequences = Sequences.of(new int[] {0, 4, 8}, mask);
        BatchTotals totals = BatchTotals.of(sequences, 4);
        assertThat(totals).isEqualTo(new BatchTotals(4, 1, 4));
        for (LossAggregation mode : new LossAggregation[] {
            LossAggregation.TOKEN_MEAN, LossAggregation.SEQ_MEAN_TOKEN_MEAN, LossAggregation.SEQ_MEAN_TOKEN_SUM_NORM
        }) {
            assertThat(mode.weights(sequences, totals))
                    .as(mode.toString())
                    .containsExactly(0.25, 0.25, 0.25, 0.25, 0, 0, 0, 0);
        }
    }

    @ParameterizedTest
    @EnumSource(LossAggregation.class)
    void fullyMaskedBatchHasWeightZero(LossAggregation mode) {
        Sequences masked = Sequences.of(new int[] {0, 2}, new boolean[2]);

        assertThat(mode.weights(masked, BatchTotals.of(masked, 10))).containsExactly(0, 0);
    }

    @ParameterizedTest
    @EnumSource(LossAggregation.class)
    void trajectoryInSegmentsWeighsAsMuchAsInOnePiece(LossAggregation mode) {
        Sequences whole = Sequences.of(new int[] {0, 4, 5}, new boolean[] {true, true, true, true, true});
        BatchTotals totals = BatchTotals.of(whole, 10);
        Sequences first = Sequences.segments(new int[] {0, 1}, new boolean[] {true}, new long[] {4});
        Sequences second =
                Sequences.segments(new int[] {0, 3, 4}, new boolean[] {true, true, true, true}, new long[] {4, 1});

        double[] expected = mode.weights(whole, totals);

        assertThat(BatchTotals.of(
                        Sequences.segments(
                                new int[] {0, 1, 4, 5},
                                new boolean[] {true, true, true, true, true},
                                new long[] {4, 4, 1}),
                        10))
                .as("a trajectory counts once")
                .isEqualTo(totals);
        assertThat(mode.weights(first, totals)).containsExactly(expected[0]);
        assertThat(mode.weights(second, totals)).containsExactly(expected[1], expected[2], expected[3], expected[4]);
    }

    @Test
    void totalsOfPartsAddUp() {
        BatchTotals totals = BatchTotals.of(BATCH, 10).plus(new BatchTotals(6, 1, 10));

        assertThat(totals).isEqualTo(new BatchTotals(10, 3, 10));
        assertThatThrownBy(() -> totals.plus(new BatchTotals(1, 1, 5)))
                .hasMessage("Cannot add totals with loss_scale_factor 10.0 and 5.0");
    }

    @Test
    void totalsOfAnotherBatchAreRefused() {
        assertThatThrownBy(() -> LossAggregation.TOKEN_MEAN.weights(BATCH, new BatchTotals(0, 0, 1)))
                .hasMessageStartingWith("Invalid batch totals: 0 tokens, yet the micro-batch has sampled tokens");
        assertThatThrownBy(() -> new BatchTotals(1, 1, 0)).hasMessageStartingWith("Invalid loss_scale_factor 0.0");
    }

    @Test
    void unknownModeIsRefusedWithTheKnownOnes() {
        assertThatThrownBy(() -> LossAggregation.of("bogus"))
                .hasMessage("Invalid loss_agg_mode 'bogus': use one of token-mean, token-sum, seq-mean-token-sum,"
                        + " seq-mean-token-mean, seq-mean-token-sum-norm");
    }

    @Test
    void layoutsThatDoNotFitTheirMaskAreRefused() {
        assertThatThrownBy(() -> Sequences.of(new int[] {0, 3}, new boolean[2]))
                .hasMessage(
                        "Invalid cumulative lengths [0, 3] for 2 tokens: they must rise from 0 to the number of tokens");
        assertThatThrownBy(() -> Sequences.of(new int[] {0, 2, 1, 2}, new boolean[2]))
                .hasMessageStartingWith("Invalid cumulative lengths");
        assertThatThrownBy(() -> Sequences.segments(new int[] {0, 1}, new boolean[] {true}, new long[] {0}))
                .hasMessage("Invalid trajectory token count 0 of sequence 0: its segment alone has 1 sampled tokens");
    }

    @Test
    void sampledTokensAreCounted() {
        assertThat(BATCH.count()).isEqualTo(3);
        assertThat(BATCH.sampledTokens()).isEqualTo(4);
        assertThat(BATCH.sampledTokens(0)).isEqualTo(3);
        assertThat(BATCH.sampledTokens(2)).isZero();
        assertThat((double) BATCH.trajectoryTokens(1)).isCloseTo(1, within(0.0));
    }

    private static double aggregate(double[] losses, double[] weights) {
        double sum = 0;
        for (int t = 0; t < losses.length; t++) {
            sum += weights[t] * losses[t];
        }
        return sum;
    }
}
