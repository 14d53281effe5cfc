package io.bellows.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.bellows.SparkTest;
import io.bellows.config.BellowsConfig;
import io.bellows.config.Purpose;
import io.bellows.data.SumProblems;
import io.bellows.model.GoldenModel;
import io.bellows.model.ModelConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Supervised fine-tuning on a tiny model: it learns, and goes on where it stopped. */
class SftLoopTest extends SparkTest {

    @TempDir
    private static Path lessons;

    @TempDir
    private Path folder;

    @BeforeAll
    static void writeLessons() throws IOException {
        new SumProblems(7, 64, 4, 0.5).write(lessons);
    }

    private static BellowsConfig config(Path run, int steps, String... more) {
        List<String> overrides = new ArrayList<>(List.of(
                "data.train_files=" + lessons.resolve("lessons.jsonl"),
                "data.train_batch_size=8",
                "data.max_prompt_length=100",
                "data.max_response_length=100",
                "model.path=" + GoldenModel.named("qwen2").folder(),
                "actor.optim.lr=0.003",
                "trainer.total_training_steps=" + steps,
                "trainer.save_freq=2",
                "trainer.deterministic=true",
                "trainer.default_local_dir=" + run));
        overrides.addAll(List.of(more));
        return BellowsConfig.load(null, overrides, Purpose.SFT);
    }

    private static double loss(RunSummary summary, int iteration) {
        return summary.metrics().get(iteration).get("train/loss");
    }

    @Test
    void theLossOfCompletionsFalls() {
        RunSummary summary = new SftLoop(spark, config(folder, 6), Progress.NONE).run();
        assertThat(summary.iterations()).isEqualTo(6);
        assertThat(loss(summary, 2)).isLessThan(loss(summary, 0));
    }

    @Test
    void everyCheckpointOfTheSaveFrequencyStays() {
        new SftLoop(spark, config(folder, 6, "trainer.max_actor_ckpt_to_keep=1"), Progress.NONE).run();
        for (String checkpoint : List.of("000001", "000002", "000003")) {
            assertThat(folder.resolve("checkpoints").resolve(checkpoint)).isDirectory();
        }
    }

    @Test
    void aRunContinuedEndsInTheSameWeightsBitForBit() throws Exception {
        Path whole = folder.resolve("whole");
        Path parts = folder.resolve("parts");
        new SftLoop(spark, config(whole, 4), Progress.NONE).run();
        new SftLoop(spark, config(parts, 2), Progress.NONE).run();
        new SftLoop(spark, config(parts, 4), Progress.NONE).run();
        String state = "checkpoints/000002/optimizer/actor.safetensors";
        assertThat(Files.readAllBytes(parts.resolve(state))).isEqualTo(Files.readAllBytes(whole.resolve(state)));
    }

    @Test
    void aModelIsTrainedFromRandomInitialisationOfAConfiguration() {
        Path shape = GoldenModel.named("qwen2_bf16").folder().resolve("config.json");
        RunSummary summary = new SftLoop(spark, config(folder, 2, "model.init_config=" + shape), Progress.NONE).run();
        long parameters = ModelConfig.parse(shape).parameterCount();
        // An untrained model knows nothing: the loss starts near the logarithm of the vocabulary's 1,024 tokens.
        assertThat(loss(summary, 0)).isBetween(5.5, 8.0);
        // The configuration says bfloat16: two bytes for each parameter, beside a header of some kilobytes.
        assertThat(folder.resolve("checkpoints/000001/actor/model.safetensors"))
                .isRegularFile()
                .satisfies(file -> assertThat(Files.size(file)).isLessThan(3 * parameters));
    }
}
