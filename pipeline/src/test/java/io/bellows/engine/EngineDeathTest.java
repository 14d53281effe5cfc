package io.bellows.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.ndarray.NDArray;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

class EngineDeathTest {

    private static final EngineSettings SETTINGS = new EngineSettings(2, 64, 16, Admission.CONTINUOUS);

    /** Draws token 1 for ever, until it fails at a decode step. */
    private static final class FailingModel implements StepModel {

        private final int failingStep;
        private int steps;
        private volatile boolean closed;

        FailingModel(int failingStep) {
            this.failingStep = failingStep;
        }

        @Override
        public List<NDArray> prefill(List<Piece> pieces) {
            return new ArrayList<>(Collections.nCopies(pieces.size(), null));
        }

        @Override
        public Draws drawFirst(List<NDArray> logits, Rows rows) {
            return ones(rows);
        }

        @Override
        public Draws decode(Rows rows) {
            if (++steps == failingStep) {
                throw new OutOfMemoryError("no memory for this step");
            }
            return ones(rows);
        }

        private static Draws ones(Rows rows) {
            double[] values = new double[2 * rows.count()];
            for (int row = 0; row < rows.count(); row++) {
                values[2 * row] = 1;
                values[2 * row + 1] = -1;
            }
            return new Draws(values);
        }

        @Override
        public void copy(int source, int[] targets, int length) {}

        @Override
        public void clear(int slot) {}

        @Override
        public void close() {
            closed = true;
        }
    }

    @Test
    void whenTheThreadDiesEveryPendingAndLaterRequestFailsWithItsCause() {
        FailingModel model = new FailingModel(10);
        try (InferenceEngine engine = new InferenceEngine(model, 8, SETTINGS, null)) {
            GenerationRequest tooMuch =
                    new GenerationRequest(new int[] {1, 2}, SamplingParams.sampled(1, 40), new long[] {1, 2, 3, 4, 5});
            GenerationRequest brief =
                    new GenerationRequest(new int[] {1, 2}, SamplingParams.sampled(1, 3), new long[] {1});
            List<CompletableFuture<Generation>> first = engine.submit(brief);
            List<CompletableFuture<Generation>> pending = engine.submit(tooMuch);
            for (CompletableFuture<Generation> future : pending) {
                assertThatThrownBy(future::join)
                        .isInstanceOf(CompletionException.class)
                        .hasMessageContaining("engine's thread died")
                        .hasRootCauseInstanceOf(OutOfMemoryError.class);
            }
            assertThat(first.get(0).join().ids()).containsExactly(1, 1, 1);
            engine.close();
            assertThat(model.closed).isTrue();
            assertThatThrownBy(engine.submit(brief).get(0)::join)
                    .hasRootCauseInstanceOf(OutOfMemoryError.class)
                    .hasMessageContaining("engine's thread died");
        }
    }
}
