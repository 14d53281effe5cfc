package io.bellows.model;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.Device;
import com.fasterxml.jackson.databind.JsonNode;
import io.bellows.model.PackedSequences.Sequence;
import io.bellows.training.AdamW;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class ModelFolderTest {

    private static Kernels kernels;

    @TempDir
    private Path folder;

    private Path source;
    private Path target;

    @BeforeAll
    static void load() {
        kernels = Kernels.load(Device.cpu());
    }

    @AfterAll
    static void close() {
        kernels.close();
    }

    @BeforeEach
    void folders() throws IOException {
        source = Files.createDirectories(folder.resolve("source"));
        target = folder.resolve("target");
    }

    private static PackedSequences sequences(GoldenModel golden) {
        return PackedSequences.of(
                golden.rows("right").stream().map(ids -> new Sequence(ids, 1)).toList());
    }

    /** Takes one optimizer step, saves, and returns the log-probs after the step. */
    private float[] updateAndSave(GoldenModel golden) {
        PackedSequences sequences = sequences(golden);
        try (Weights weights = Weights.load(kernels, source);
                Decoder decoder = new Decoder(kernels, weights.config(), 64);
                Gradients gradients = Gradients.of(kernels, weights);
                AdamW optimizer = new AdamW(kernels, weights, new AdamW.Settings(0.9, 0.95, 1e-8, 0.01))) {
            try (ForwardPass pass = decoder.forward(weights, sequences, 1.0)) {
                float[] dLogProb = new float[sequences.targets().length];
                Arrays.fill(dLogProb, -1f / dLogProb.length);
                pass.backward(gradients, dLogProb, new float[dLogProb.length]);
            }
            float[] before = decoder.score(weights, sequences, 1.0).logProbs();
            optimizer.step(gradients, 1e-3);
            ModelFolder.save(source, target, weights);
            float[] after = decoder.score(weights, sequences, 1.0).logProbs();
            assertThat(after).isNotEqualTo(before);
            return after;
        }
    }

    private float[] loadAndScore(GoldenModel golden) {
        try (Weights weights = Weights.load(kernels, target);
                Decoder decoder = new Decoder(kernels, weights.config(), 64)) {
            return decoder.score(weights, sequences(golden), 1.0).logProbs();
        }
    }

    @ParameterizedTest
    @CsvSource({"qwen2, ONE", "qwen2, TWO", "llama, TWO", "qwen3, ONE"})
    void aFolderSavedAfterAnUpdateLoadsWithTheSameLogProbs(String name, Shards shards) throws IOException {
        GoldenModel golden = GoldenModel.named(name);
        TensorBytes.copy(golden.folder(), source);
        if (shards == Shards.TWO) {
            TensorBytes.shard(source);
        }
        float[] saved = updateAndSave(golden);
        assertThat(loadAndScore(golden)).isEqualTo(saved);
        assertHeadersFit();
    }

    private enum Shards {
        ONE,
        TWO
    }

    @Test
    void aFolderInBfloat16StaysInIt() throws IOException {
        GoldenModel golden = GoldenModel.named("qwen2_bf16");
        TensorBytes.copy(golden.folder(), source);
        float[] saved = updateAndSave(golden);
        float[] loaded = loadAndScore(golden);
        double distance = 0;
        for (int i = 0; i < saved.length; i++) {
            distance += Math.abs(loaded[i] - saved[i]) / saved.length;
        }
        assertThat(distance).isBetween(1e-4, 0.5); // large random weights, rounded to three digits
        assertHeadersFit();
        Path again = folder.resolve("again");
        try (Weights weights = Weights.load(kernels, target)) {
            ModelFolder.save(target, again, weights);
        }
        assertThat(again.resolve("model.safetensors")).hasSameBinaryContentAs(target.resolve("model.safetensors"));
    }

    /** What other readers rely on. */
    private void assertHeadersFit() throws IOException {
        List<Path> files;
        try (var all = Files.list(source)) {
            files = all.filter(file -> file.toString().endsWith(".safetensors")).toList();
        }
        assertThat(files).isNotEmpty();
        for (Path file : files) {
            TensorBytes before = TensorBytes.read(file);
            TensorBytes after = TensorBytes.read(target.resolve(file.getFileName()));
            assertThat((8 + after.headerLength) % 8).isZero();
            assertThat(after.header.path("__metadata__"))
                    .isEqualTo(TensorBytes.JSON.createObjectNode().put("format", "pt"));
            assertThat(after.names()).isEqualTo(before.names());
            int position = 0;
            for (String name : after.names()) {
                assertThat(after.tensor(name).path("dtype"))
                        .isEqualTo(before.tensor(name).path("dtype"));
                assertThat(after.tensor(name).path("shape"))
                        .isEqualTo(before.tensor(name).path("shape"));
                assertThat(after.begin(name)).isEqualTo(position);
                position = after.end(name);
            }
            assertThat(position).isEqualTo(after.data.length);
        }
    }

    @ParameterizedTest
    @MethodSource("io.bellows.model.GoldenModel#names")
    void aFolderSavedWithoutAnUpdateHoldsTheSameBytes(String name) throws IOException {
        GoldenModel golden = GoldenModel.named(name);
        try (Weights weights = Weights.load(kernels, golden.folder())) {
            ModelFolder.save(golden.folder(), target, weights);
        }
        TensorBytes before = TensorBytes.read(golden.folder().resolve("model.safetensors"));
        TensorBytes after = TensorBytes.read(target.resolve("model.safetensors"));
        assertThat(after.data).isEqualTo(before.data);
        assertThat(after.header).isEqualTo(before.header);
    }

    @Test
    void everyOtherFileStaysButForOldWeightsInOtherFormats() throws IOException {
        GoldenModel golden = GoldenModel.named("qwen2");
        TensorBytes.copy(golden.folder(), source);
        TensorBytes.shard(source);
        for (String file : List.of("chat_template.jinja", "LICENSE", "pytorch_model.bin", ".gitattributes")) {
            Files.writeString(source.resolve(file), file);
        }
        Files.createDirectories(source.resolve("additional_chat_templates"));
        Files.writeString(source.resolve("additional_chat_templates/tool_use.jinja"), "{{ messages }}");
        target = Files.createDirectories(source.resolve("runs/one")); // a run may lie inside its model's folder
        updateAndSave(golden);
        List<String> kept;
        try (var files = Files.walk(target)) {
            kept = files.filter(Files::isRegularFile)
                    .map(file -> target.relativize(file).toString())
                    .sorted()
                    .toList();
        }
        assertThat(kept)
                .containsExactly(
                        "LICENSE",
                        "additional_chat_templates/tool_use.jinja",
                        "chat_template.jinja",
                        "config.json",
                        "generation_config.json",
                        "model-00001-of-00002.safetensors",
                        "model-00002-of-00002.safetensors",
                        "model.safetensors.index.json",
                        "tokenizer.json",
                        "tokenizer_config.json");
        for (String file : List.of("config.json", "tokenizer.json", "model.safetensors.index.json")) {
            assertThat(target.resolve(file)).hasSameBinaryContentAs(source.resolve(file));
        }
    }

    @Test
    void aTiedHeadThatIsStoredTwiceIsWrittenTwice() throws IOException {
        GoldenModel golden = GoldenModel.named("qwen2");
        TensorBytes.copy(golden.folder(), source);
        TensorBytes bytes = TensorBytes.read(source.resolve("model.safetensors"));
        String embedding = "model.embed_tokens.weight";
        byte[] data = Arrays.copyOf(bytes.data, bytes.data.length + bytes.end(embedding) - bytes.begin(embedding));
        System.arraycopy(data, bytes.begin(embedding), data, bytes.data.length, data.length - bytes.data.length);
        bytes.header.set("lm_head.weight", bytes.tensor(embedding).deepCopy());
        bytes.move("lm_head.weight", bytes.data.length, data.length);
        TensorBytes.write(source.resolve("model.safetensors"), TensorBytes.JSON.writeValueAsBytes(bytes.header), data);
        updateAndSave(golden);
        TensorBytes after = TensorBytes.read(target.resolve("model.safetensors"));
        assertThat(Arrays.copyOfRange(after.data, after.begin("lm_head.weight"), after.end("lm_head.weight")))
                .isEqualTo(Arrays.copyOfRange(after.data, after.begin(embedding), after.end(embedding)));
        JsonNode shape = after.tensor("lm_head.weight").path("shape");
        assertThat(shape).isEqualTo(after.tensor(embedding).path("shape"));
    }
}
