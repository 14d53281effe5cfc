package io.bellows.udfs.loss;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.bellows.udfs.Golden;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class VanillaPolicyLossTest {

    static Stream<Golden.Case> reference() {
        return Golden.of("verl_policy_loss_a").cases("compute_policy_loss_vanilla");
    }

    @ParameterizedTest
    @MethodSource("reference")
    void lossGradientAndMetricsEqualVerl(Golden.Case golden) {
        Sequences sequences = Batches.padded(golden, "response_mask");
        PolicyBatch.Builder batch = PolicyBatch.of(sequences)
                .logProbs(Golden.flat(golden.matrix("log_prob")))
                .oldLogProbs(Golden.flat(golden.matrix("old_log_prob")))
                .advantages(Golden.flat(golden.matrix("advantages")));
        if (golden.has("rollout_is_weights")) {
            batch.importanceWeights(Golden.flat(golden.matrix("rollout_is_weights")));
        }
        PolicyLoss policyLoss = new VanillaPolicyLoss(
                golden.config("clip_ratio_low"), golden.config("clip_ratio_high"), golden.config("clip_ratio_c"));
        LossAggregation aggregation =
                LossAggregation.of(golden.arg("loss_agg_mode").asText());
        int width = golden.matrix("response_mask")[0].length;

        BatchTotals totals = totals(golden, sequences, width);

        LossGradient actual = new ActorLoss(policyLoss, aggregation).compute(batch.build(), totals);

        double factor = Batches.referenceFactor(
                aggregation, totals, golden.globalBatchInfo().path("dp_size").asDouble(1));
        double expectedLoss = Golden.number(golden.out("loss"));
        // A fully masked batch: NaN in verl, 0 here.
        Golden.assertClose(actual.loss() * factor, Double.isNaN(expectedLoss) ? 0 : expectedLoss);
        Golden.assertClose(
                Arrays.stream(actual.dLogProb()).map(d -> d * factor).toArray(),
                Golden.flat(Golden.matrix(golden.out("grad_log_prob"))));
        Map<String, Double> metrics = actual.metrics().values();
        if (sequences.sampledTokens() > 0) {
            golden.out("metrics")
                    .properties()
                    .forEach(metric -> Golden.assertClose(
                            metrics.get(metric.getKey()), metric.getValue().asDouble()));
        } else {
            assertThat(metrics).doesNotContainKeys("actor/pg_clipfrac", "actor/ppo_kl", "actor/pg_clipfrac_lower");
        }
    }

    private static BatchTotals totals(Golden.Case golden, Sequences sequences, int width) {
        JsonNode info = golden.globalBatchInfo();
        return info.isMissingNode()
                ? BatchTotals.of(sequences, width)
                : new BatchTotals(
                        info.get("batch_num_tokens").asLong(),
                        info.get("global_batch_size").asLong(),
                        info.get("loss_scale_factor").asDouble());
    }

    @Test
    void onPolicyNothingIsClippedAndTheDerivativeIsMinusTheAdvantage() {
        TokenLosses losses = tokenLosses(new VanillaPolicyLoss(0.2, 0.2, 3), -1, -1, 0.7);

        assertThat(losses.values()[0]).isEqualTo(-0.7);
        assertThat(losses.derivatives()[0]).isEqualTo(-0.7);
        assertThat(losses.metrics().values())
                .containsEntry("actor/pg_clipfrac", 0.0)
                .containsEntry("actor/ppo_kl", 0.0);
    }

    @Test
    void upperClipStopsAGoodTokenAndLowerClipABadOne() {
        PolicyLoss loss = new VanillaPolicyLoss(0.2, 0.28, 3);

        TokenLosses good = tokenLosses(loss, Math.log(1.5), 0, 2);
        assertThat(good.values()[0]).isCloseTo(-2 * 1.28, within(1e-12));
        assertThat(good.derivatives()[0]).isZero();

        TokenLosses bad = tokenLosses(loss, Math.log(0.5), 0, -2);
        assertThat(bad.values()[0]).isCloseTo(2 * 0.8, within(1e-12));
        assertThat(bad.derivatives()[0]).isZero();
    }

    @Test
    void secondClipBoundsTheLossOfABadTokenThatBecameLikely() {
        TokenLosses losses = tokenLosses(new VanillaPolicyLoss(0.2, 0.2, 3), Math.log(5), 0, -2);

        assertThat(losses.values()[0]).isCloseTo(6, within(1e-12));
        assertThat(losses.derivatives()[0]).isZero();
        assertThat(losses.metrics().values()).containsEntry("actor/pg_clipfrac_lower", 1.0);
    }

    @Test
    void exponentBeyondTwentyIsHeldAndHasNoGradient() {
        TokenLosses losses = tokenLosses(new VanillaPolicyLoss(0.2, 0.2, 3), -40, -1, 1);

        assertThat(losses.values()[0]).isCloseTo(-Math.exp(-20), within(1e-15));
        assertThat(losses.derivatives()[0]).isZero();
        assertThat(losses.metrics().values()).containsEntry("actor/ppo_kl", 20.0);
    }

    @Test
    void rangesAreChecked() {
        assertThatThrownBy(() -> new VanillaPolicyLoss(1.5, 0.2, 3))
                .hasMessage("Invalid clip_ratio_low 1.5: it must be between 0 and 1");
        assertThatThrownBy(() -> new VanillaPolicyLoss(0.2, -0.1, 3))
                .hasMessage("Invalid clip_ratio_high -0.1: it must not be negative");
        assertThatThrownBy(() -> new VanillaPolicyLoss(0.2, 0.2, 1))
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
