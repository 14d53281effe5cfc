package io.bellows.udfs.loss;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class SftLossTest {
    private static final Sequences BATCH =
            Sequences.of(new int[] {0, 3, 5}, new boolean[] {false, true, true, false, true});

    @Test
    void lossIsTheNegativeLogLikelihoodOfCompletionTokens() {
        float[] logProbs = {Float.NaN, -1, -2, Float.NaN, -6};

        LossGradient mean = new SftLoss(LossAggregation.TOKEN_MEAN).compute(BATCH, logProbs, new BatchTotals(4, 2, 1));

        // A quarter each, although only three of the four completion tokens of the mini-batch are here.
        assertThat(mean.loss()).isEqualTo(2.25);
        assertThat(mean.dLogProb()).containsExactly(0, -0.25, -0.25, 0, -0.25);
        assertThat(mean.dEntropy()).containsOnly(0.0);
        assertThat(mean.metrics().values()).containsEntry("train/loss", 3.0);
    }

    @Test
    void logProbsMustBeThoseOfTheTokens() {
        assertThatThrownBy(() ->
                        new SftLoss(LossAggregation.TOKEN_MEAN).compute(BATCH, new float[4], new BatchTotals(3, 2, 1)))
                .hasMessage("Invalid logProbs: 4 values for 5 tokens");
    }
}
