package io.bellows.resident;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bellows.config.OptimConfig;
import io.bellows.engine.Admission;
import io.bellows.engine.GenerationRequest;
import io.bellows.engine.InferenceEngine;
import io.bellows.engine.SamplingParams;
import io.bellows.model.Activations;
import io.bellows.model.ComputeType;
import io.bellows.model.GoldenModel;
import io.bellows.model.InvalidModelException;
import io.bellows.resident.ExecutorHost.Role;
import io.bellows.training.AdamW;
import io.bellows.training.LearningRateSchedule;
import io.bellows.training.MicroBatching;
import io.bellows.training.SupervisedObjective;
import io.bellows.training.TrainingSequence;
import io.bellows.training.UpdateSettings;
import io.bellows.training.collective.Collective;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a resident model is after something went wrong with it. */
class ResidentModelTest {

    private static final ResidentSettings SETTINGS =
            new ResidentSettings(64, 2, 16, Admission.ORDERED, 1, ComputeType.FLOAT32, Activations.KEEP);
    private static final WeightsRef INITIAL =
            WeightsRef.initial(GoldenModel.named("qwen2").folder().toString());
    private static final UpdateSettings UPDATE = new UpdateSettings(
            new SupervisedObjective(),
            new AdamW.Settings(0.9, 0.999, 1e-8, 0.01),
            new LearningRateSchedule(new OptimConfig(0.01, -1, 0, "constant", 0, 0.01, List.of(0.9, 0.999), 1e-8), 10),
            1,
            MicroBatching.byTokens(64));
    private static final List<TrainingSequence> LESSONS = List.of(
            TrainingSequence.lesson("a", new int[] {1, 2}, new int[] {3, 4}, new boolean[] {true, true}),
            TrainingSequence.lesson("b", new int[] {5}, new int[] {6, 7}, new boolean[] {true, true}));

    @TempDir
    private Path folder;

    @AfterEach
    void release() {
        ExecutorHost.release("one");
        ExecutorHost.release("other");
    }

    private static ResidentModel model(String owner, WeightsRef weights) {
        return ExecutorHost.model(owner, Role.POLICY, weights, SETTINGS);
    }

    private static Path update(String owner, WeightsRef from, Path checkpoint) {
        model(owner, from)
                .update(
                        from,
                        UPDATE,
                        checkpoint,
                        checkpoint.toString(),
                        Collective.alone(),
                        trainer -> trainer.step(LESSONS));
        return checkpoint;
    }

    private static Path state(Path checkpoint) {
        return checkpoint.resolve("optimizer/actor.safetensors");
    }

    @Test
    void anUpdateTriedAgainAfterAnUnreadableOptimizerStateDoesNotStartFromZeroMoments() throws IOException {
        Path first = update("one", INITIAL, folder.resolve("first"));
        WeightsRef after = ResidentModel.checkpointed(Role.POLICY, "first", 1, first);
        Path expected = update("one", after, folder.resolve("expected"));

        model("other", after); // weights alone: it was never trained here
        byte[] whole = Files.readAllBytes(state(first));
        byte[] damaged = whole.clone();
        for (int i = 1; i <= Float.BYTES; i++) {
            damaged[whole.length - i] = -1; // the last moment is a NaN
        }
        Files.write(state(first), damaged);
        assertThatThrownBy(() -> update("other", after, folder.resolve("failed")))
                .isInstanceOf(InvalidModelException.class)
                .hasMessageContaining("expected a finite number");
        Files.write(state(first), whole);

        Path again = update("other", after, folder.resolve("again"));
        assertThat(state(again)).hasSameBinaryContentAs(state(expected));
    }

    @Test
    void anEngineThatStoppedIsReplaced() {
        ResidentModel model = model("one", INITIAL);
        InferenceEngine stopped = model.engine(INITIAL);
        stopped.close();
        assertThat(stopped.isRunning()).isFalse();

        InferenceEngine running = model.engine(INITIAL);
        GenerationRequest request =
                new GenerationRequest(new int[] {1, 2}, SamplingParams.sampled(1, 3), new long[] {7});
        assertThat(running).isNotSameAs(stopped).isSameAs(model.engine(INITIAL));
        assertThat(running.submit(request).get(0).join().ids()).hasSize(3);
    }
}
