package io.bellows.jobs;

import io.bellows.config.BellowsConfig;
import io.bellows.config.Purpose;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code -c FILE key=value …}: the configuration of a run. */
final class ConfigArguments {

    static final String ABOUT_FILE = "YAML with verl's keys, such as conf/grpo-gsm8k.yaml.";
    static final String ABOUT_OVERRIDES =
            "Overrides, such as rollout.n=8 trainer.total_training_steps=20. The value is YAML.";

    @Option(
            names = {"-c", "--config"},
            required = true,
            paramLabel = "FILE",
            description = ABOUT_FILE)
    private Path file;

    @Parameters(arity = "0..*", paramLabel = "key=value", description = ABOUT_OVERRIDES)
    private List<String> overrides = new ArrayList<>();

    /** The configuration, checked for {@code purpose}. */
    BellowsConfig load(Purpose purpose) {
        return load(purpose, List.of());
    }

    /** As {@link #load(Purpose)}, with overrides that win over those of the command line. */
    BellowsConfig load(Purpose purpose, List<String> winning) {
        List<String> all = new ArrayList<>(overrides);
        all.addAll(winning);
        return BellowsConfig.load(find(file), all, purpose);
    }

    /** The file that {@code -c} names. */
    static Path find(Path file) {
        if (!file.isAbsolute() && !Files.exists(file) && Files.exists(Home.resolve(file))) {
            return Home.resolve(file); // a preset of this project, from any working directory
        }
        return file;
    }
}
