package io.bellows.udfs.loss;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class VanillaPolicyLossTest {

    @Test
    void onPolicyNothingIsClippedAndTheDerivativeIsMinusTheAdvantage() {
        TokenLosses losses = tokenLosses(new VanillaPolicyLoss(new ClipRange(0.2, 0.2), 3), -1, -1, 0.7);

        assertThat(losses.values()[0]).isEqualTo(-0.7);
        assertThat(losses.derivatives()[0]).isEqualTo(-0.7);
        assertThat(losses.metrics().values())
                .containsEntry("actor/pg_clipfrac", 0.0)
                .containsEntry("actor/ppo_kl", 0.0);
    }

    @Test
    void upperClipStopsAGoodTokenAndLowerClipABadOne() {
        PolicyLoss loss = new VanillaPolicyLoss(new ClipRange(0.2, 0.28), 3);

        TokenLosses good = tokenLosses(loss, Math.log(1.5), 0, 2);
        assertThat(good.values()[0]).isCloseTo(-2 * 1.28, within(1e-12));
        assertThat(good.derivatives()[0]).isZero();

        TokenLosses bad = tokenLosses(loss, Math.log(0.5), 0, -2);
        assertThat(bad.values()[0]).isCloseTo(2 * 0.8, within(1e-12));
        assertThat(bad.derivatives()[0]).isZero();
    }

    @Test
    void secondClipBoundsTheLossOfABadTokenThatBecameLikely() {
        TokenLosses losses = tokenLosses(new VanillaPolicyLoss(new ClipRange(0.2, 0.2), 3), Math.log(5), 0, -2);

        assertThat(losses.values()[0]).isCloseTo(6, within(1e-12));
        assertThat(losses.derivatives()[0]).isZero();
        assertThat(losses.metrics().values()).containsEntry("actor/pg_clipfrac_lower", 1.0);
    }

    @Test
    void exponentBeyondTwentyIsHeldAndHasNoGradient() {
        TokenLosses losses = tokenLosses(new VanillaPolicyLoss(new ClipRange(0.2, 0.2), 3), -40, -1, 1);

        assertThat(losses.values()[0]).isCloseTo(-Math.exp(-20), within(1e-15));
        assertThat(losses.derivatives()[0]).isZero();
        assertThat(losses.metrics().values()).containsEntry("actor/ppo_kl", 20.0);
    }

    @Test
    void rangesAreChecked() {
        assertThatThrownBy(() -> new ClipRange(1.5, 0.2))
                .hasMessage("Invalid clip_ratio_low 1.5: it must be between 0 and 1");
        assertThatThrownBy(() -> new ClipRange(0.2, -0.1))
                .hasMessage("Invalid clip_ratio_high -0.1: it must not be negative");
        assertThatThrownBy(() -> new VanillaPolicyLoss(new ClipRange(0.2, 0.2), 1))
                .hasMessage("Invalid clip_ratio_c 1.0: it must be above 1");
    }

    private static TokenLosses tokenLosses(PolicyLoss loss, double logProb, double oldLogProb, double advantage) {
        return loss.tokenLosses(PolicyBatch.of(Sequences.of(new int[] {0, 1}, new boolean[] {true}))
                .logProbs(new double[] {logProb})
                .oldLogProbs(new double[] {oldLogProb})
                .advantages(new double[] {advantage})
                .build());
    }
}
