package io.bellows.udfs.correction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.bellows.udfs.Golden;
import io.bellows.udfs.loss.ActorLoss;
import io.bellows.udfs.loss.BatchTotals;
import io.bellows.udfs.loss.ClipRange;
import io.bellows.udfs.loss.GpgPolicyLoss;
import io.bellows.udfs.loss.LossAggregation;
import io.bellows.udfs.loss.LossGradient;
import io.bellows.udfs.loss.PolicyBatch;
import io.bellows.udfs.loss.PolicyLoss;
import io.bellows.udfs.loss.Sequences;
import io.bellows.udfs.loss.VanillaPolicyLoss;
import io.bellows.udfs.metrics.Metrics;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RolloutCorrectionTest {
    private static final Golden GOLDEN = Golden.of("verl_rollout_corr");

    static Stream<Golden.Case> reference() {
        return Stream.of(
                        "compute_rollout_correction_weights",
                        "compute_rollout_rejection_mask",
                        "compute_rollout_correction_and_rejection_mask",
                        "compute_offpolicy_metrics")
                .flatMap(GOLDEN::cases)
                .filter(golden -> !golden.raised());
    }

    @ParameterizedTest
    @MethodSource("reference")
    void weightsMaskAndMetricsEqualVerl(Golden.Case golden) {
        Correction actual = correct(golden);

        if (golden.out("weights") != null && !golden.out("weights").isNull()) {
            Golden.assertClose(actual.weights(), Golden.flat(Golden.matrix(golden.out("weights"))));
        } else {
            assertThat(actual.weights()).isNull();
        }
        if (golden.out("modified_mask") != null) {
            assertThat(bits(actual.mask())).containsExactly(Golden.flat(Golden.matrix(golden.out("modified_mask"))));
        }
        assertMetrics(actual.metrics(), golden.out("metrics"));
    }

    static Stream<Golden.Case> refused() {
        return GOLDEN.cases("compute_rollout_rejection_mask").filter(Golden.Case::raised);
    }

    @ParameterizedTest
    @MethodSource("refused")
    void whatVerlRefusesIsRefused(Golden.Case golden) {
        assertThatThrownBy(() -> settings(golden))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Invalid rollout_rs");
    }

    /** verl raises for a batch without a sampled token. */
    @Test
    void batchWithoutASampledTokenHasWeightsOfZeroAndNoMetricsOfTokens() {
        Golden.Case golden = GOLDEN.cases("compute_rollout_correction_weights")
                .filter(Golden.Case::raised)
                .findFirst()
                .orElseThrow();

        Correction actual = correct(golden);

        assertThat(actual.weights()).containsOnly(0);
        assertThat(actual.mask()).containsOnly(false);
        assertThat(actual.metrics().values())
                .doesNotContainKeys("rollout_corr/rollout_is_mean", "rollout_corr/rollout_is_max", "rollout_corr/kl")
                .allSatisfy((name, value) -> assertThat(value).isFinite());
    }

    static Stream<Golden.Case> bypass() {
        return Golden.of("verl_policy_loss_b").cases("compute_policy_loss_bypass_mode");
    }

    /** In bypass mode the policy that sampled takes the place of the old one, and the correction is that of the current policy. */
    @ParameterizedTest
    @MethodSource("bypass")
    void bypassModeEqualsVerl(Golden.Case golden) {
        JsonNode config = golden.part("rollout_correction");
        Sequences batch = padded(golden);
        double[] logProbs = Golden.flat(golden.matrix("log_prob"));
        double[] rolloutLogProbs = Golden.flat(golden.matrix("old_log_prob"));
        Correction correction = settings(config).correct(batch, logProbs, rolloutLogProbs);
        Sequences kept = Sequences.of(bounds(batch), correction.mask());
        PolicyBatch.Builder tokens = PolicyBatch.of(kept)
                .logProbs(logProbs)
                .oldLogProbs(rolloutLogProbs)
                .advantages(Golden.flat(golden.matrix("advantages")));
        boolean reinforce = config.get("loss_type").asText().equals("reinforce");
        if (reinforce && correction.weights() != null) {
            tokens.importanceWeights(correction.weights());
        }
        PolicyLoss loss = reinforce
                ? new GpgPolicyLoss()
                : new VanillaPolicyLoss(
                        new ClipRange(golden.config("clip_ratio_low"), golden.config("clip_ratio_high")),
                        golden.config("clip_ratio_c"));

        LossGradient actual = new ActorLoss(
                        loss, LossAggregation.of(golden.arg("loss_agg_mode").asText()))
                .compute(tokens.build(), BatchTotals.of(kept, 1));

        Golden.assertClose(actual.loss(), golden.out("loss").asDouble());
        Golden.assertCloseByNorm(actual.dLogProb(), Golden.flat(Golden.matrix(golden.out("grad_log_prob"))));
        assertMetrics(actual.metrics().merge(correction.metrics()), golden.out("metrics"));
    }

    @Test
    void twoBoundsZeroWhatIsOutsideAndCountIt() {
        Sequences batch = Sequences.of(new int[] {0, 4}, new boolean[] {true, true, true, false});
        double[] logProbs = {Math.log(0.4), Math.log(0.5), Math.log(6), Double.NaN};

        Correction actual = RolloutCorrection.NONE
                .withWeights(ImportanceWeighting.of("token", "0.5_5.0"))
                .correct(batch, logProbs, new double[] {0, 0, 0, Double.NaN});

        assertThat(actual.weights()).containsExactly(new double[] {0, 0.5, 0, 0}, within(1e-12));
        assertThat(actual.metrics().values().get("rollout_corr/rollout_is_oob_ratio"))
                .isEqualTo(2 / 3.0);
        assertThat(actual.metrics().values().get("rollout_corr/rollout_is_ratio_fraction_low"))
                .isEqualTo(1 / 3.0);
        assertThat(actual.metrics().values())
                .allSatisfy((name, value) -> assertThat(value).isFinite());
    }

    @Test
    void partsOfABatchAddUpToTheBatchInAnyOrder() {
        Golden.Case golden = GOLDEN.cases("compute_rollout_correction_and_rejection_mask")
                .filter(c -> c.has("rollout_rs")
                        && c.arg("rollout_is_batch_normalize").asBoolean())
                .findFirst()
                .orElseThrow();
        Sequences batch = padded(golden);
        double[] logProbs = Golden.flat(golden.matrix("old_log_prob"));
        double[] rolloutLogProbs = Golden.flat(golden.matrix("rollout_log_prob"));
        RolloutCorrection correction = settings(golden);
        Correction whole = correction.correct(batch, logProbs, rolloutLogProbs);

        Metrics metrics = Metrics.empty();
        double sum = 0;
        long count = 0;
        double[] weights = new double[batch.tokens()];
        boolean[] mask = new boolean[batch.tokens()];
        for (int i = batch.count() - 1; i >= 0; i--) {
            int start = batch.start(i);
            int length = batch.end(i) - start;
            boolean[] rowMask = new boolean[length];
            IntStream.range(0, length).forEach(t -> rowMask[t] = batch.sampled(start + t));
            Correction row = correction.correctPart(
                    Sequences.of(new int[] {0, length}, rowMask),
                    Arrays.copyOfRange(logProbs, start, batch.end(i)),
                    Arrays.copyOfRange(rolloutLogProbs, start, batch.end(i)));
            metrics = metrics.merge(row.metrics());
            sum += row.sumOfWeights();
            count += row.countOfWeights();
            System.arraycopy(row.weights(), 0, weights, start, length);
            System.arraycopy(row.mask(), 0, mask, start, length);
        }

        double normalizer = RolloutCorrection.normalizer(sum, count);
        assertThat(Arrays.stream(weights).map(w -> w / normalizer).toArray())
                .containsExactly(whole.weights(), within(1e-12));
        assertThat(mask).isEqualTo(whole.mask());
        Map<String, Double> merged = metrics.values();
        assertThat(merged.keySet()).isEqualTo(whole.metrics().values().keySet());
        whole.metrics()
                .values()
                .forEach((name, value) -> assertThat(merged.get(name))
                        .as(name)
                        .isCloseTo(value, within(1e-12 * Math.max(1, Math.abs(value)))));
    }

    @Test
    void settingsThatCannotBeUnderstoodAreRefused() {
        assertThatThrownBy(() -> ImportanceWeighting.of("word", "2"))
                .hasMessage("Invalid rollout_is 'word': use token or sequence");
        for (String threshold : List.of("", "x", "0", "-1", "nan", "5_0.5", "1_2_3")) {
            assertThatThrownBy(() -> ImportanceWeighting.of("token", threshold))
                    .hasMessageStartingWith(
                            "Invalid rollout_is_threshold '" + threshold + "': write one number above 0, such as 2.0,");
        }
        assertThatThrownBy(() -> RejectionRule.parse("seq_max_k1", "2"))
                .hasMessageStartingWith("Invalid rollout_rs 'seq_max_k1': use one or more of token_k1, token_k2,");
    }

    private static void assertMetrics(Metrics actual, JsonNode expected) {
        Map<String, Double> values = actual.values();
        expected.properties().forEach(metric -> {
            String name = metric.getKey().contains("/") ? metric.getKey() : "rollout_corr/" + metric.getKey();
            assertThat(values).containsKey(name);
            double value = metric.getValue().asDouble();
            if (name.endsWith("_std") && !name.endsWith("_seq_std")) {
                // The reference takes the root of mean(x²) − mean(x)², a difference of floats near 1.
                assertThat(values.get(name) * values.get(name)).as(name).isCloseTo(value * value, within(1e-6));
            } else {
                Golden.assertClose(values.get(name), value);
            }
        });
    }

    private static Correction correct(Golden.Case golden) {
        Sequences batch = padded(golden);
        double[] logProbs = Golden.flat(golden.matrix(golden.has("log_ratio") ? "log_ratio" : "old_log_prob"));
        double[] rolloutLogProbs =
                golden.has("log_ratio") ? new double[logProbs.length] : Golden.flat(golden.matrix("rollout_log_prob"));
        return settings(golden).correct(batch, logProbs, rolloutLogProbs);
    }

    private static RolloutCorrection settings(Golden.Case golden) {
        return settings(golden.part("args"));
    }

    private static RolloutCorrection settings(JsonNode args) {
        RolloutCorrection correction = RolloutCorrection.NONE;
        if (args.hasNonNull("rollout_is")) {
            correction = correction.withWeights(ImportanceWeighting.of(
                    args.get("rollout_is").asText(),
                    args.path("rollout_is_threshold").asText("2.0")));
        }
        if (args.path("rollout_is_batch_normalize").asBoolean()) {
            correction = correction.withBatchNormalization();
        }
        if (args.hasNonNull("rollout_rs")) {
            JsonNode threshold = args.get("rollout_rs_threshold");
            correction = correction.withRejection(RejectionRule.parse(
                    args.get("rollout_rs").asText(), threshold.isNull() ? null : threshold.asText()));
        }
        return correction;
    }

    private static Sequences padded(Golden.Case golden) {
        double[][] rows = golden.matrix("response_mask");
        int[] bounds = new int[rows.length + 1];
        Arrays.setAll(bounds, i -> i * rows[0].length);
        return Sequences.of(bounds, golden.mask("response_mask"));
    }

    private static int[] bounds(Sequences batch) {
        return IntStream.rangeClosed(0, batch.count())
                .map(i -> i == 0 ? 0 : batch.end(i - 1))
                .toArray();
    }

    private static double[] bits(boolean[] mask) {
        return IntStream.range(0, mask.length).mapToDouble(t -> mask[t] ? 1 : 0).toArray();
    }
}
