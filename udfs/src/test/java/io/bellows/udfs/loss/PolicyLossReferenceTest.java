package io.bellows.udfs.loss;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.bellows.udfs.Golden;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every policy loss of the reference values, with every aggregation. */
class PolicyLossReferenceTest {

    static Stream<Golden.Case> reference() {
        return Stream.concat(
                        Stream.of("vanilla", "gspo", "sapo", "gpg").flatMap(mode -> cases("verl_policy_loss_a", mode)),
                        Stream.of("clip_cov", "kl_cov", "geo_mean", "cispo")
                                .flatMap(mode -> cases("verl_policy_loss_b", mode)))
                .filter(golden -> golden.part("torch_seed").isMissingNode());
    }

    private static Stream<Golden.Case> cases(String file, String mode) {
        return Golden.of(file).cases("compute_policy_loss_" + mode);
    }

    @ParameterizedTest
    @MethodSource("reference")
    void lossGradientAndMetricsEqualVerl(Golden.Case golden) {
        LossGradient actual = compute(golden, selected(golden));
        Sequences sequences = Batches.padded(golden, "response_mask");
        double factor = factor(golden, sequences);

        double expectedLoss = Golden.number(golden.out("loss"));
        // A fully masked batch: NaN in verl, 0 here.
        Golden.assertClose(actual.loss() * factor, Double.isNaN(expectedLoss) ? 0 : expectedLoss);
        Golden.assertCloseByNorm(
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

    static Stream<Golden.Case> drawn() {
        return cases("verl_policy_loss_b", "clip_cov")
                .filter(golden -> !golden.part("torch_seed").isMissingNode());
    }

    /** verl draws from torch's generator, we from ours: its outcome must be that of one of the draws we could have made. */
    @ParameterizedTest
    @MethodSource("drawn")
    void drawOfClipCovIsFromTheSameCandidates(Golden.Case golden) {
        boolean[] ours = selected(golden);
        assertThat(tokens(ours).count()).isEqualTo(1);

        Settings all = new Settings(golden, 1);
        boolean[] candidates =
                ((SelectivePolicyLoss) all.loss()).select(batch(golden).build(), new long[6]);
        assertThat(tokens(candidates).boxed())
                .containsAll(tokens(ours).boxed().toList())
                .hasSizeGreaterThan(1);
        double expected = Golden.number(golden.out("loss"));
        assertThat(tokens(candidates).mapToDouble(token -> {
                    boolean[] one = new boolean[candidates.length];
                    one[token] = true;
                    return compute(golden, one).loss();
                }))
                .anySatisfy(loss -> Golden.assertClose(loss, expected));
    }

    private static IntStream tokens(boolean[] selected) {
        return IntStream.range(0, selected.length).filter(t -> selected[t]);
    }

    /** The loss that a case asks for, with all of its settings, or another share of Clip-Cov. */
    private record Settings(PolicyLoss loss) {
        Settings(Golden.Case golden) {
            this(
                    golden,
                    golden.part("policy_loss_config").path("clip_cov_ratio").asDouble(0.0002));
        }

        Settings(Golden.Case golden, double clipCovRatio) {
            this(PolicyLosses.of(
                    golden.part("loss_name").asText(),
                    new PolicyLosses.Settings(
                            golden.config("clip_ratio_low", 0.2),
                            golden.config("clip_ratio_high", 0.2),
                            golden.config("clip_ratio_c", 3),
                            golden.config("tau_pos", 1),
                            golden.config("tau_neg", 1.05),
                            clipCovRatio,
                            golden.part("policy_loss_config")
                                    .path("clip_cov_lb")
                                    .asDouble(1),
                            golden.part("policy_loss_config")
                                    .path("clip_cov_ub")
                                    .asDouble(5),
                            golden.part("policy_loss_config")
                                    .path("kl_cov_ratio")
                                    .asDouble(0.0002),
                            golden.part("policy_loss_config")
                                    .path("ppo_kl_coef")
                                    .asDouble(0.1),
                            Double.NaN)));
        }
    }

    /** What the loss selects, or null. */
    private static boolean[] selected(Golden.Case golden) {
        PolicyBatch batch = batch(golden).build();
        return new Settings(golden).loss() instanceof SelectivePolicyLoss selective
                ? selective.select(batch, new long[batch.sequences().count()])
                : null;
    }

    private static PolicyBatch.Builder batch(Golden.Case golden) {
        PolicyBatch.Builder batch = PolicyBatch.of(Batches.padded(golden, "response_mask"))
                .logProbs(Golden.flat(golden.matrix("log_prob")))
                .oldLogProbs(Golden.flat(golden.matrix("old_log_prob")))
                .advantages(Golden.flat(golden.matrix("advantages")));
        return golden.has("rollout_is_weights")
                ? batch.importanceWeights(Golden.flat(golden.matrix("rollout_is_weights")))
                : batch;
    }

    private static LossGradient compute(Golden.Case golden, boolean[] selected) {
        PolicyBatch.Builder batch = batch(golden);
        if (selected != null) {
            batch.selected(selected);
        }
        Sequences sequences = Batches.padded(golden, "response_mask");
        return new ActorLoss(new Settings(golden).loss(), aggregation(golden))
                .compute(batch.build(), totals(golden, sequences));
    }

    private static LossAggregation aggregation(Golden.Case golden) {
        return LossAggregation.of(golden.arg("loss_agg_mode").asText());
    }

    private static BatchTotals totals(Golden.Case golden, Sequences sequences) {
        JsonNode info = golden.globalBatchInfo();
        return info.isMissingNode()
                ? BatchTotals.of(sequences, golden.matrix("response_mask")[0].length)
                : new BatchTotals(
                        info.get("batch_num_tokens").asLong(),
                        info.get("global_batch_size").asLong(),
                        info.get("loss_scale_factor").asDouble());
    }

    /** What our loss is to be multiplied by to get that of the reference. */
    private static double factor(Golden.Case golden, Sequences sequences) {
        PolicyLoss loss = new Settings(golden).loss();
        BatchTotals totals = totals(golden, sequences);
        if (loss instanceof GeoMeanPolicyLoss) {
            // verl's mean is over all rows of the micro-batch, the empty ones too, whatever the totals of the
            // mini-batch.
            return (double) totals.sequences() / sequences.count();
        }
        return Batches.referenceFactor(
                loss.aggregation(aggregation(golden)),
                totals,
                golden.globalBatchInfo().path("dp_size").asDouble(1));
    }
}
