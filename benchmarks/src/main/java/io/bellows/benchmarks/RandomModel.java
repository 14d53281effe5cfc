package io.bellows.benchmarks;

import ai.djl.Device;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.model.Kernels;
import io.bellows.model.ModelConfig;
import io.bellows.model.ModelFolder;
import io.bellows.model.StorageType;
import io.bellows.model.Weights;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A model folder with random weights and the tests' tokenizer, and prompts for it.
 *
 * @param folder of the model
 * @param prompts JSON lines
 */
record RandomModel(Path folder, Path prompts) {

    /**
     * Writes both.
     *
     * @param work where to
     * @param size of the model
     * @param end id of the token that ends a response, or -1 for none
     * @param count prompts
     * @param length tokens of each, one a digit
     */
    static RandomModel write(Path work, ModelSize size, int end, int count, int length) throws IOException {
        Path folder = work.resolve("model");
        Path config = Files.createDirectories(work.resolve("files")).resolve("config.json");
        size.write(config, 0);
        tokenizer(config.getParent(), end);
        try (Kernels kernels = Kernels.load(Device.cpu());
                Weights weights = Weights.random(kernels, ModelConfig.parse(config), 1)) {
            ModelFolder.create(config.getParent(), folder, weights, StorageType.F32);
        }
        return new RandomModel(folder, prompts(work.resolve("prompts.jsonl"), count, length));
    }

    /** A prompt is its text; without an end token, a response is as long as it may be. */
    private static void tokenizer(Path folder, int end) throws IOException {
        Path tests = Path.of(System.getProperty("bellows.home", "."), "pipeline/src/test/resources/golden/tokenizer");
        ObjectMapper json = new ObjectMapper();
        Files.copy(tests.resolve("tokenizer.json"), folder.resolve("tokenizer.json"));
        ObjectNode settings = (ObjectNode)
                json.readTree(tests.resolve("tokenizer_config.json").toFile());
        settings.put("chat_template", "{% for message in messages %}{{ message.content }}{% endfor %}");
        settings.remove("eos_token");
        json.writeValue(folder.resolve("tokenizer_config.json").toFile(), settings);
        if (end >= 0) {
            json.writeValue(
                    folder.resolve("generation_config.json").toFile(),
                    json.createObjectNode().put("eos_token_id", end));
        }
    }

    private static Path prompts(Path file, int count, int length) throws IOException {
        Random random = new Random(0);
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            StringBuilder digits = new StringBuilder();
            random.ints(length, 0, 10).forEach(digits::append);
            lines.add(new ObjectMapper()
                    .createObjectNode()
                    .put("prompt", digits.toString())
                    .put("answer", "0")
                    .toString());
        }
        return Files.write(file, lines);
    }
}
