package io.bellows.udfs.loss;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.bellows.udfs.loss.DppoPolicyLoss.Divergence;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Derivatives, values by hand, and invariance, of every policy loss. */
class PolicyLossDerivativeTest {
    private static final PolicyLosses.Settings SETTINGS =
            new PolicyLosses.Settings(0.2, 0.28, 3, 1, 1.05, 0.2, 0.05, 5, 0.2, 0.5, 0.7);
    /** The token's log-prob where the loss is taken as a constant (stop-gradient), by the name of the loss. */
    private static final Map<String, Surrogate> SURROGATES = Map.of(
            "cispo",
                    (batch, t, logProb) ->
                            -Math.max(0.8, Math.min(1.28, Math.exp(batch.logRatio(t)))) * batch.advantage(t) * logProb,
            "gspo", PolicyLossDerivativeTest::gspo,
            "dppo_tv", (batch, t, logProb) -> dppo(batch, t, logProb, tv(batch, t)),
            "dppo_kl", (batch, t, logProb) -> dppo(batch, t, logProb, kl(batch, t)));

    /** The loss of a token as a function of its log-prob, where whatever verl detaches is a constant of the batch. */
    private interface Surrogate {
        double loss(PolicyBatch batch, int token, double logProb);
    }

    static Stream<String> modes() {
        return PolicyLosses.names().stream();
    }

    static Stream<String> differentiable() {
        return modes().filter(mode -> !SURROGATES.containsKey(mode));
    }

    @ParameterizedTest
    @MethodSource("differentiable")
    void derivativeEqualsFiniteDifferences(String mode) {
        Random random = new Random(21);
        Sequences sequences = Batches.random(random, 14);
        Batches.Values values = Batches.values(random, sequences);
        boolean[] selected = selected(mode, values, sequences);
        BatchTotals totals = BatchTotals.of(sequences, 12);
        ActorLoss loss = new ActorLoss(PolicyLosses.of(mode, SETTINGS), LossAggregation.TOKEN_MEAN);
        double[] exact =
                loss.compute(batch(values, sequences, selected), totals).dLogProb();

        double h = 1e-6;
        double[] numeric = new double[exact.length];
        for (int t = 0; t < exact.length; t++) {
            double original = values.logProbs()[t];
            values.logProbs()[t] = original + h;
            double above =
                    loss.compute(batch(values, sequences, selected), totals).loss();
            values.logProbs()[t] = original - h;
            double below =
                    loss.compute(batch(values, sequences, selected), totals).loss();
            values.logProbs()[t] = original;
            numeric[t] = (above - below) / (2 * h);
        }
        assertThat(exact).containsExactly(numeric, within(1e-7));
        assertThat(Arrays.stream(exact).filter(d -> d != 0).count()).isGreaterThan(10);
    }

    static Stream<String> stopped() {
        return SURROGATES.keySet().stream().sorted();
    }

    @ParameterizedTest
    @MethodSource("stopped")
    void derivativeIsThatOfTheLossWithConstantRatios(String mode) {
        Random random = new Random(22);
        Sequences sequences = Batches.random(random, 14);
        PolicyBatch batch = Batches.values(random, sequences).batch(sequences);
        TokenLosses losses = PolicyLosses.of(mode, SETTINGS).tokenLosses(batch);
        Surrogate surrogate = SURROGATES.get(mode);

        double h = 1e-6;
        for (int t = 0; t < sequences.tokens(); t++) {
            if (sequences.sampled(t)) {
                double logProb = batch.logProb(t);
                assertThat(losses.values()[t]).isCloseTo(surrogate.loss(batch, t, logProb), within(1e-12));
                double numeric =
                        (surrogate.loss(batch, t, logProb + h) - surrogate.loss(batch, t, logProb - h)) / (2 * h);
                assertThat(losses.derivatives()[t]).as("token %d", t).isCloseTo(numeric, within(1e-7));
            }
        }
        assertThat(Arrays.stream(losses.derivatives()).filter(d -> d != 0).count())
                .isGreaterThan(10);
        assertThat(losses.metrics().values().get("actor/pg_clipfrac")).isBetween(0.01, 0.99);
    }

    private static double gspo(PolicyBatch batch, int token, double logProb) {
        double s = Math.exp(batch.sequences().meansOfSampled(batch::logRatio)[token] + logProb - batch.logProb(token));
        return Math.max(-batch.advantage(token) * s, -batch.advantage(token) * Math.max(0.8, Math.min(1.28, s)));
    }

    private static double dppo(PolicyBatch batch, int token, double logProb, boolean inside) {
        return inside ? -batch.advantage(token) * Math.min(3, Math.exp(batch.logRatio(token))) * logProb : 0;
    }

    private static boolean tv(PolicyBatch batch, int token) {
        double difference = Math.exp(batch.logProb(token)) - Math.exp(batch.oldLogProb(token));
        return batch.advantage(token) > 0 ? difference <= 0.28 : difference >= -0.2;
    }

    private static boolean kl(PolicyBatch batch, int token) {
        double p = Math.exp(batch.logProb(token));
        double old = Math.exp(batch.oldLogProb(token));
        double kl = old * Math.log(old / p) + (1 - old) * Math.log((1 - old + 1e-8) / (1 - p + 1e-8));
        return batch.advantage(token) > 0 ? kl <= 0.28 || p <= old : kl <= 0.2 || p >= old;
    }

    /** These are in no reference values: the version they were made with lacks them. */
    static Stream<Arguments> byHand() {
        double half = Math.log(0.5);
        double quarter = Math.log(0.25);
        return Stream.of(
                // From 1/4 to 1/2, the ratio is 2; |1/2 − 1/4| = 0.25.
                Arguments.of(
                        new DppoPolicyLoss(Divergence.TOTAL_VARIATION, 0.2, 0.3, 20),
                        half,
                        quarter,
                        2.0,
                        -4 * half,
                        -4.0),
                Arguments.of(
                        new DppoPolicyLoss(Divergence.TOTAL_VARIATION, 0.2, 0.2, 20), half, quarter, 2.0, 0.0, 0.0),
                Arguments.of(
                        new DppoPolicyLoss(Divergence.TOTAL_VARIATION, 0.2, 0.3, 1.5),
                        half,
                        quarter,
                        2.0,
                        -3 * half,
                        -3.0),
                // Away from the direction of the advantage nothing is too far.
                Arguments.of(
                        new DppoPolicyLoss(Divergence.TOTAL_VARIATION, 0, 0, 20), half, quarter, -2.0, 4 * half, 4.0),
                Arguments.of(
                        new DppoPolicyLoss(Divergence.TOTAL_VARIATION, 0.2, 0.3, 20), quarter, half, -2.0, 0.0, 0.0),
                // The binary KL of 1/4 from 1/2 is log(1/2)/4 + 3/4·log(3/2) = 0.130812.
                Arguments.of(new DppoPolicyLoss(Divergence.KL, 0.2, 0.1309, 20), half, quarter, 2.0, -4 * half, -4.0),
                Arguments.of(new DppoPolicyLoss(Divergence.KL, 0.2, 0.1308, 20), half, quarter, 2.0, 0.0, 0.0),
                // And of 1/2 from 1/4: log(2)/2 + log(2/3)/2 = 0.143841.
                Arguments.of(new DppoPolicyLoss(Divergence.KL, 0.1439, 0, 20), quarter, half, -2.0, quarter, 1.0),
                Arguments.of(new DppoPolicyLoss(Divergence.KL, 0.1438, 0, 20), quarter, half, -2.0, 0.0, 0.0),
                // −(2·(−1) − 0.25·0.5²) and −2 + 0.5·0.5.
                Arguments.of(new DroPolicyLoss(0.5), -1.0, -1.5, 2.0, 2.0625, -1.75));
    }

    @ParameterizedTest
    @MethodSource("byHand")
    void valueAndDerivativeOfOneToken(
            PolicyLoss loss, double logProb, double oldLogProb, double advantage, double value, double derivative) {
        TokenLosses losses = loss.tokenLosses(PolicyBatch.of(Sequences.of(new int[] {0, 1}, new boolean[] {true}))
                .logProbs(new double[] {logProb})
                .oldLogProbs(new double[] {oldLogProb})
                .advantages(new double[] {advantage})
                .build());

        assertThat(losses.values()[0]).isCloseTo(value, within(1e-12));
        assertThat(losses.derivatives()[0]).isCloseTo(derivative, within(1e-12));
    }

    @ParameterizedTest
    @MethodSource("modes")
    void microBatchesOrderAndMaskedTokensChangeNothing(String mode) {
        Random random = new Random(23);
        Sequences whole = Batches.random(random, 30);
        Batches.Values values = Batches.values(random, whole);
        boolean[] selected = selected(mode, values, whole);
        BatchTotals totals = BatchTotals.of(whole, 12);
        ActorLoss loss = new ActorLoss(PolicyLosses.of(mode, SETTINGS), LossAggregation.SEQ_MEAN_TOKEN_SUM);
        LossGradient expected = loss.compute(batch(values, whole, selected), totals);

        List<Integer> order =
                new ArrayList<>(IntStream.range(0, whole.count()).boxed().toList());
        Collections.shuffle(order, random);
        double sum = 0;
        double[] gradient = new double[whole.tokens()];
        for (int start = 0; start < order.size(); start += 7) {
            Batches.Picked part = Batches.pick(whole, order.subList(start, Math.min(start + 7, order.size())), 2);
            LossGradient actual =
                    loss.compute(batch(values.pick(part.positions()), part.sequences(), part.pick(selected)), totals);
            sum += actual.loss();
            part.forEach((from, to) -> gradient[to] = actual.dLogProb()[from]);
        }

        assertThat(sum).isCloseTo(expected.loss(), within(1e-6));
        assertThat(distance(gradient, expected.dLogProb())).isLessThan(1e-5 * norm(expected.dLogProb()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"clip_cov", "kl_cov"})
    void selectionDoesNotDependOnTheOrderOfSequencesButOnTheSeed(String mode) {
        Random random = new Random(24);
        Sequences whole = Batches.random(random, 40);
        Batches.Values values = Batches.values(random, whole);
        long[] seeds = random.longs(whole.count()).toArray();
        SelectivePolicyLoss loss = (SelectivePolicyLoss) PolicyLosses.of(mode, SETTINGS);
        boolean[] expected = loss.select(values.batch(whole), seeds);

        List<Integer> order =
                new ArrayList<>(IntStream.range(0, whole.count()).boxed().toList());
        Collections.shuffle(order, random);
        Batches.Picked shuffled = Batches.pick(whole, order, 0);
        boolean[] actual = loss.select(
                values.pick(shuffled.positions()).batch(shuffled.sequences()),
                order.stream().mapToLong(i -> seeds[i]).toArray());

        assertThat(actual).isEqualTo(shuffled.pick(expected));
        assertThat(count(expected)).isEqualTo((int) (0.2 * whole.sampledTokens()));
        if (mode.equals("clip_cov")) {
            long[] others = Arrays.stream(seeds).map(seed -> seed + 1).toArray();
            assertThat(loss.select(values.batch(whole), others)).isNotEqualTo(expected);
        }
    }

    @Test
    void klCovChoosesTheLargestCovariances() {
        Sequences sequences = Sequences.of(new int[] {0, 4}, new boolean[] {true, true, true, false});
        PolicyBatch batch = PolicyBatch.of(sequences)
                .logProbs(new double[] {-1, -2, -3, Double.NaN})
                .oldLogProbs(new double[] {-1, -2, -3, Double.NaN})
                .advantages(new double[] {2, 0, -4, Double.NaN})
                .build();

        // Covariances 2/3·1·… : the last token is furthest from both means, −2/3 and −2.
        assertThat(new KlCovPolicyLoss(0.34, 1).select(batch, new long[1])).containsExactly(false, false, true, false);
        assertThat(new KlCovPolicyLoss(0.67, 1).select(batch, new long[1])).containsExactly(true, false, true, false);
    }

    private static int count(boolean[] flags) {
        return (int) IntStream.range(0, flags.length).filter(t -> flags[t]).count();
    }

    private static boolean[] selected(String mode, Batches.Values values, Sequences sequences) {
        return PolicyLosses.of(mode, SETTINGS) instanceof SelectivePolicyLoss selective
                ? selective.select(values.batch(sequences), new long[sequences.count()])
                : new boolean[sequences.tokens()];
    }

    private static PolicyBatch batch(Batches.Values values, Sequences sequences, boolean[] selected) {
        return PolicyBatch.of(sequences)
                .logProbs(values.logProbs())
                .oldLogProbs(values.oldLogProbs())
                .advantages(values.advantages())
                .importanceWeights(values.importanceWeights())
                .selected(selected)
                .build();
    }

    private static double distance(double[] a, double[] b) {
        return norm(IntStream.range(0, a.length).mapToDouble(t -> a[t] - b[t]).toArray());
    }

    private static double norm(double[] values) {
        return Math.sqrt(Arrays.stream(values).map(v -> v * v).sum());
    }
}
