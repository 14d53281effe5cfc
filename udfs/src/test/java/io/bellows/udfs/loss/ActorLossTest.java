package io.bellows.udfs.loss;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.bellows.udfs.Golden;
import io.bellows.udfs.metrics.Metrics;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class ActorLossTest {
    private static final VanillaPolicyLoss VANILLA = new VanillaPolicyLoss(new ClipRange(0.2, 0.28), 3);
    private static final double LONGEST = 12;

    static Stream<Golden.Case> entropyReference() {
        return Golden.of("verl_kl_value_misc").cases("compute_entropy_loss");
    }

    @ParameterizedTest
    @MethodSource("entropyReference")
    void entropyIsAggregatedAsInVerl(Golden.Case golden) {
        Sequences sequences = Batches.padded(golden, "response_mask");
        List<Double> entropies = new ArrayList<>();
        golden.arg("logits").forEach(row -> row.forEach(logits -> entropies.add(entropy(logits))));
        double[] zeros = new double[sequences.tokens()];
        LossAggregation aggregation =
                LossAggregation.of(golden.arg("loss_agg_mode").asText());
        BatchTotals totals = BatchTotals.of(sequences, golden.matrix("response_mask")[0].length);
        PolicyBatch batch = PolicyBatch.of(sequences)
                .logProbs(zeros)
                .oldLogProbs(zeros)
                .advantages(zeros)
                .entropies(entropies.stream().mapToDouble(h -> h).toArray())
                .build();

        LossGradient actual =
                new ActorLoss(VANILLA, aggregation).withEntropyBonus(0.01).compute(batch, totals);

        double expected = golden.out("loss").asDouble() / Batches.referenceFactor(aggregation, totals, 1);
        Golden.assertClose(actual.metrics().values().get("actor/entropy"), expected);
        Golden.assertClose(actual.loss(), -0.01 * expected);
    }

    @ParameterizedTest
    @EnumSource(LossAggregation.class)
    void gradientEqualsFiniteDifferences(LossAggregation aggregation) {
        Random random = new Random(11);
        Sequences sequences = Batches.random(random, 12);
        Batches.Values values = Batches.values(random, sequences);
        BatchTotals totals = BatchTotals.of(sequences, LONGEST);
        // The + kinds are left out: their derivative is not that of their value, by definition.
        for (KlPenalty kind : List.of(KlPenalty.K1, KlPenalty.ABS, KlPenalty.K2, KlPenalty.K3)) {
            ActorLoss loss =
                    new ActorLoss(VANILLA, aggregation).withEntropyBonus(0.03).withKlLoss(kind, 0.2);
            LossGradient exact = loss.compute(values.batch(sequences), totals);

            double scale =
                    Arrays.stream(aggregation.weights(sequences, totals)).max().getAsDouble();
            for (int t = 0; t < sequences.tokens(); t++) {
                assertThat(exact.dLogProb()[t])
                        .as("%s, token %d", kind, t)
                        .isCloseTo(
                                difference(loss, values, values.logProbs(), t, sequences, totals),
                                within(1e-6 * scale));
                assertThat(exact.dEntropy()[t])
                        .isCloseTo(
                                difference(loss, values, values.entropies(), t, sequences, totals),
                                within(1e-6 * scale));
            }
        }
    }

    private static double difference(
            ActorLoss loss, Batches.Values values, double[] array, int token, Sequences sequences, BatchTotals totals) {
        double h = 1e-5;
        double original = array[token];
        array[token] = original + h;
        double above = loss.compute(values.batch(sequences), totals).loss();
        array[token] = original - h;
        double below = loss.compute(values.batch(sequences), totals).loss();
        array[token] = original;
        return (above - below) / (2 * h);
    }

    @ParameterizedTest
    @EnumSource(LossAggregation.class)
    void anyMicroBatchesInAnyOrderAddUpToTheMiniBatch(LossAggregation aggregation) {
        Random random = new Random(5);
        Sequences whole = Batches.random(random, 30);
        Batches.Values values = Batches.values(random, whole);
        BatchTotals totals = BatchTotals.of(whole, LONGEST);
        ActorLoss loss = full(aggregation);
        LossGradient expected = loss.compute(values.batch(whole), totals);

        List<Integer> order =
                new ArrayList<>(IntStream.range(0, whole.count()).boxed().toList());
        Collections.shuffle(order, random);
        double sum = 0;
        double[] gradient = new double[whole.tokens()];
        Metrics metrics = Metrics.empty();
        for (int start = 0; start < order.size(); start += 7) {
            List<Integer> rows = order.subList(start, Math.min(start + 7, order.size()));
            Batches.Picked picked = Batches.pick(whole, rows, 0);
            LossGradient part = loss.compute(values.pick(picked.positions()).batch(picked.sequences()), totals);
            sum += part.loss();
            metrics = metrics.merge(part.metrics());
            picked.forEach((from, to) -> gradient[to] = part.dLogProb()[from]);
        }

        assertThat(sum).isCloseTo(expected.loss(), within(1e-12));
        assertThat(gradient).containsExactly(expected.dLogProb());
        assertThat(metrics.values().keySet())
                .isEqualTo(expected.metrics().values().keySet());
        metrics.values()
                .forEach((name, value) -> assertThat(value)
                        .as(name)
                        .isCloseTo(expected.metrics().values().get(name), within(1e-12)));
    }

    @ParameterizedTest
    @EnumSource(LossAggregation.class)
    void paddingAndPromptTokensChangeNothing(LossAggregation aggregation) {
        Random random = new Random(6);
        Sequences ragged = Batches.random(random, 9);
        Batches.Values values = Batches.values(random, ragged);
        BatchTotals totals = BatchTotals.of(ragged, LONGEST);
        List<Integer> rows = IntStream.range(0, ragged.count()).boxed().toList();
        Batches.Picked picked = Batches.pick(ragged, rows, 3);
        int[] positions = picked.positions();

        LossGradient expected = full(aggregation).compute(values.batch(ragged), totals);
        LossGradient padded = full(aggregation).compute(values.pick(positions).batch(picked.sequences()), totals);

        assertThat(padded.loss()).isEqualTo(expected.loss());
        for (int i = 0; i < positions.length; i++) {
            assertThat(padded.dLogProb()[i]).isEqualTo(positions[i] < 0 ? 0 : expected.dLogProb()[positions[i]]);
        }
    }

    @ParameterizedTest
    @EnumSource(LossAggregation.class)
    void nanOutsideTheMaskIsNeverRead(LossAggregation aggregation) {
        Sequences sequences = Sequences.of(new int[] {0, 2}, new boolean[] {true, false});
        Batches.Values values = Batches.values(new Random(1), sequences);

        LossGradient actual = full(aggregation).compute(values.batch(sequences), BatchTotals.of(sequences, LONGEST));

        assertThat(values.logProbs()[1]).isNaN();
        assertThat(actual.loss()).isFinite();
        assertThat(actual.dLogProb()[1]).isZero();
        assertThat(actual.dEntropy()[1]).isZero();
        assertThat(actual.metrics().values().values())
                .allSatisfy(value -> assertThat(value).isFinite());
    }

    @ParameterizedTest
    @EnumSource(LossAggregation.class)
    void fullyMaskedBatchHasLossAndGradientZeroAndIsCounted(LossAggregation aggregation) {
        Sequences masked = Sequences.of(new int[] {0, 2, 3}, new boolean[3]);
        Batches.Values values = Batches.values(new Random(1), masked);

        LossGradient actual = full(aggregation).compute(values.batch(masked), BatchTotals.of(masked, LONGEST));

        assertThat(actual.loss()).isZero();
        assertThat(actual.dLogProb()).containsOnly(0.0);
        assertThat(actual.dEntropy()).containsOnly(0.0);
        assertThat(actual.metrics().values())
                .containsOnlyKeys("actor/kl_coef", "actor/empty_sequences")
                .containsEntry("actor/empty_sequences", 2.0);
    }

    @Test
    void lossIsPolicyLossLessEntropyBonusPlusKl() {
        Sequences sequences = Sequences.of(new int[] {0, 1}, new boolean[] {true});
        PolicyBatch batch = PolicyBatch.of(sequences)
                .logProbs(new float[] {-1})
                .oldLogProbs(new float[] {-1})
                .advantages(new float[] {0.5f})
                .refLogProbs(new float[] {-2})
                .entropies(new float[] {3})
                .importanceWeights(new float[] {2})
                .build();

        LossGradient actual = new ActorLoss(VANILLA, LossAggregation.TOKEN_MEAN)
                .withEntropyBonus(0.1)
                .withKlLoss(KlPenalty.K2, 0.25)
                .compute(batch, BatchTotals.of(sequences, 1));

        assertThat(actual.loss()).isCloseTo(-0.5 * 2 - 0.1 * 3 + 0.25 * 0.5, within(1e-12));
        assertThat(actual.dLogProb()[0]).isCloseTo(-0.5 * 2 + 0.25, within(1e-12));
        assertThat(actual.dEntropy()[0]).isEqualTo(-0.1);
        assertThat(actual.metrics().values())
                .containsEntry("actor/pg_loss", -1.0)
                .containsEntry("actor/entropy", 3.0)
                .containsEntry("actor/kl_loss", 0.5)
                .containsEntry("actor/kl_coef", 0.25)
                .containsEntry("actor/empty_sequences", 0.0);
    }

    @Test
    void lossMetricsOfSeveralMiniBatchesAreTheirMean() {
        Sequences one = Sequences.of(new int[] {0, 1}, new boolean[] {true});
        Sequences two = Sequences.of(new int[] {0, 2}, new boolean[] {true, true});
        ActorLoss loss = new ActorLoss(VANILLA, LossAggregation.TOKEN_MEAN);

        Metrics merged = loss.compute(onPolicy(one, 1), BatchTotals.of(one, 1))
                .metrics()
                .merge(loss.compute(onPolicy(two, 3), BatchTotals.of(two, 1)).metrics());

        assertThat(merged.values()).containsEntry("actor/pg_loss", -2.0);
    }

    @Test
    void entropyIsReportedWithoutABonusAndIsNotInTheLoss() {
        Sequences sequences = Sequences.of(new int[] {0, 1}, new boolean[] {true});
        PolicyBatch batch = PolicyBatch.of(sequences)
                .logProbs(new double[1])
                .oldLogProbs(new double[1])
                .advantages(new double[] {1})
                .entropies(new double[] {Double.POSITIVE_INFINITY})
                .build();
        ActorLoss loss = new ActorLoss(VANILLA, LossAggregation.TOKEN_MEAN);

        assertThat(loss.usesEntropyGradient()).isFalse();
        assertThat(loss.compute(batch, BatchTotals.of(sequences, 1)).loss()).isEqualTo(-1);
    }

    @Test
    void missingInputsAreNamed() {
        Sequences sequences = Sequences.of(new int[] {0, 1}, new boolean[] {true});
        ActorLoss loss = new ActorLoss(VANILLA, LossAggregation.TOKEN_MEAN);
        BatchTotals totals = BatchTotals.of(sequences, 1);
        PolicyBatch batch = onPolicy(sequences, 1);

        assertThatThrownBy(() -> loss.withEntropyBonus(0.1).compute(batch, totals))
                .hasMessage("Cannot compute the loss: entropy_coeff is 0.1 but the batch has no entropies");
        assertThatThrownBy(() -> loss.withKlLoss(KlPenalty.K3, 0.1).compute(batch, totals))
                .hasMessage("Cannot compute the loss: kl_loss_coef is 0.1 but the batch has no reference log-probs");
        assertThatThrownBy(() -> loss.withEntropyBonus(Double.NaN))
                .hasMessage("Invalid entropy_coeff NaN: it must be a finite number");
        assertThatThrownBy(
                        () -> PolicyBatch.of(sequences).logProbs(new double[1]).build())
                .hasMessage("Cannot build a policy batch without oldLogProbs");
        assertThatThrownBy(() -> PolicyBatch.of(sequences).logProbs(new double[2]))
                .hasMessage("Invalid logProbs: 2 values for 1 tokens");
    }

    private static ActorLoss full(LossAggregation aggregation) {
        return new ActorLoss(VANILLA, aggregation).withEntropyBonus(0.02).withKlLoss(KlPenalty.K3, 0.1);
    }

    private static PolicyBatch onPolicy(Sequences sequences, double advantage) {
        double[] zeros = new double[sequences.tokens()];
        return PolicyBatch.of(sequences)
                .logProbs(zeros)
                .oldLogProbs(zeros)
                .advantages(Batches.fill(zeros.length, t -> advantage))
                .build();
    }

    private static double entropy(JsonNode logits) {
        double max = Double.NEGATIVE_INFINITY;
        for (JsonNode logit : logits) {
            max = Math.max(max, logit.asDouble());
        }
        double sum = 0;
        double weighted = 0;
        for (JsonNode logit : logits) {
            double p = Math.exp(logit.asDouble() - max);
            sum += p;
            weighted += p * (logit.asDouble() - max);
        }
        return Math.log(sum) - weighted / sum;
    }
}
