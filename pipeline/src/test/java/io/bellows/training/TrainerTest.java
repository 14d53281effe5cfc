package io.bellows.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.Device;
import io.bellows.config.OptimConfig;
import io.bellows.model.Decoder;
import io.bellows.model.GoldenModel;
import io.bellows.model.Gradients;
import io.bellows.model.Kernels;
import io.bellows.model.TokenScores;
import io.bellows.model.Weights;
import io.bellows.udfs.loss.BatchTotals;
import io.bellows.udfs.loss.LossGradient;
import io.bellows.udfs.loss.Sequences;
import io.bellows.udfs.metrics.Metric;
import io.bellows.udfs.metrics.Metrics;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Steps whose gradient is not finite. */
class TrainerTest {

    private static final AdamW.Settings ADAM_W = new AdamW.Settings(0.9, 0.999, 1e-8, 0.01);
    private static final List<TrainingSequence> BATCH =
            List.of(TrainingSequence.lesson("a", new int[] {1, 2}, new int[] {3}, new boolean[] {true}));

    private static Kernels kernels;
    private static Weights weights;
    private static Decoder decoder;
    private static Gradients gradients;

    @TempDir
    private Path folder;

    /** Learns as supervised fine-tuning does, or has a gradient of NaN. */
    private record Faulty(boolean faulty) implements TokenObjective {
        @Override
        public double temperature() {
            return 1;
        }

        @Override
        public BatchTotals totals(Sequences sequences) {
            return new SupervisedObjective().totals(sequences);
        }

        @Override
        public LossGradient compute(MicroBatch batch, TokenScores scores, BatchTotals totals) {
            double gradient = faulty ? Double.NaN : -1;
            Metrics metrics = Metrics.empty().with("actor/pg_loss", Metric.mean(faulty ? Double.NaN : 2, 1));
            return new LossGradient(0, new double[] {gradient}, new double[] {0}, metrics);
        }
    }

    @BeforeAll
    static void load() {
        kernels = Kernels.load(Device.cpu());
        weights = Weights.load(kernels, GoldenModel.named("qwen2").folder());
        decoder = new Decoder(kernels, weights.config(), 8);
        gradients = Gradients.of(kernels, weights);
    }

    @AfterAll
    static void close() {
        gradients.close();
        decoder.close();
        weights.close();
        kernels.close();
    }

    private static Trainer trainer(AdamW optimizer, Objective objective) {
        OptimConfig optim = new OptimConfig(1e-3, -1, 0, "constant", 0, 0.01, List.of(0.9, 0.999), 1e-8);
        return new Trainer(
                new TrainedModel(decoder, weights, gradients),
                optimizer,
                new UpdateSettings(
                        objective, ADAM_W, new LearningRateSchedule(optim, 100), 1, MicroBatching.byTokens(64)));
    }

    private static void step(AdamW optimizer, Objective objective, int times) {
        for (int i = 0; i < times; i++) {
            trainer(optimizer, objective).step(BATCH); // a trainer lives for one update, here of one step
        }
    }

    @Test
    void tenUpdatesInARowWithoutAFiniteGradientStopTheRun() {
        try (AdamW optimizer = new AdamW(kernels, weights, ADAM_W)) {
            step(optimizer, new Faulty(true), 9);
            assertThat(optimizer.stepsTaken()).isZero();
            assertThatThrownBy(() -> step(optimizer, new Faulty(true), 1))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage(
                            "Cannot train on: loss or gradient of the actor was not finite 10 times in a row, now in a."
                                    + " Lower actor.optim.lr, or look for extreme rewards and log-probs in these rows.");
        }
    }

    @Test
    void aStepThatIsLeftOutIsCountedAndHasNoOtherMetrics() {
        try (AdamW optimizer = new AdamW(kernels, weights, ADAM_W)) {
            Metrics skipped = trainer(optimizer, new Faulty(true)).step(BATCH);
            Metrics taken = trainer(optimizer, new Faulty(false)).step(BATCH);

            assertThat(skipped.values())
                    .containsOnly(Map.entry("actor/mini_batches", 1.0), Map.entry("actor/skipped_steps", 1.0));
            assertThat(skipped.merge(taken).values())
                    .containsEntry("actor/pg_loss", 2.0)
                    .containsEntry("actor/mini_batches", 2.0)
                    .containsEntry("actor/skipped_steps", 1.0);
        }
    }

    @Test
    void aFiniteGradientStartsTheCountAgain() {
        try (AdamW optimizer = new AdamW(kernels, weights, ADAM_W)) {
            step(optimizer, new Faulty(true), 9);
            step(optimizer, new Faulty(false), 1);
            step(optimizer, new Faulty(true), 9);
            assertThat(optimizer.stepsTaken()).isEqualTo(1);
        }
    }

    @Test
    void theCountOutlivesARestart() {
        Path file = folder.resolve("state.safetensors");
        try (AdamW optimizer = new AdamW(kernels, weights, ADAM_W)) {
            step(optimizer, new Faulty(true), 9);
            optimizer.save(file);
        }
        try (AdamW restored = new AdamW(kernels, weights, ADAM_W)) {
            restored.restore(file);
            assertThatThrownBy(() -> step(restored, new Faulty(true), 1))
                    .hasMessageContaining("not finite 10 times in a row");
        }
    }
}
