package io.bellows.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The presets of the project fit this version's keys and rules. */
class PresetsTest {

    private static final Path PROJECT = Path.of("..").toAbsolutePath().normalize();

    static Stream<String> presetsOnTheStarter() throws IOException {
        try (Stream<Path> files = Files.list(PROJECT.resolve("conf"))) {
            List<String> presets = files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".yaml"))
                    .filter(name ->
                            !List.of("grpo-gsm8k.yaml", "sql-agent.yaml").contains(name))
                    .filter(name -> !name.endsWith("-sft.yaml"))
                    .sorted()
                    .toList();
            assertThat(presets)
                    .contains("ppo.yaml", "grpo.yaml", "dr-grpo.yaml", "dapo.yaml", "rloo.yaml")
                    .contains("reinforce++.yaml", "remax.yaml", "gspo.yaml", "cispo.yaml", "quickstart.yaml")
                    .contains("calculator-tool.yaml");
            return presets.stream();
        }
    }

    @ParameterizedTest
    @MethodSource("presetsOnTheStarter")
    void aPresetIsValidAsItIs(String preset) {
        BellowsConfig config = BellowsConfig.load(
                PROJECT.resolve("conf").resolve(preset),
                List.of(
                        "data.train_files=" + PROJECT.resolve("data-samples/sums/train.jsonl"),
                        "data.val_files=" + PROJECT.resolve("data-samples/sums/validation.jsonl"),
                        "model.path=" + PROJECT.resolve("data-samples/starter"),
                        "rollout.multi_turn.tool_config_path=" + PROJECT.resolve("conf/tools/calculator.yaml")));

        assertThat(config.data().trainBatchSize() % config.actor().ppoMiniBatchSize())
                .isZero();
    }
}
