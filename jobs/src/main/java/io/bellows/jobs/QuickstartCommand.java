package io.bellows.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.config.BellowsConfig;
import io.bellows.config.Purpose;
import io.bellows.run.TrainLoop;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "quickstart",
        description = {
            "Trains the small model that comes with Bellows to add: a GRPO run of some minutes on two cores.",
            "It is 'bellows train -c conf/quickstart.yaml' with the project's own model and data."
        })
final class QuickstartCommand extends Subcommand {

    private static final String CONFIG = "conf/quickstart.yaml";

    @Option(
            names = "--run-dir",
            paramLabel = "DIR",
            description = "Where the run goes; one that is there goes on (default: runs/quickstart-TIME).")
    private Path runDirectory;

    @Parameters(arity = "0..*", paramLabel = "key=value", description = "Overrides, as of bellows train.")
    private List<String> overrides = new ArrayList<>();

    @Override
    ObjectNode run(Console console) throws Exception {
        Path file = Home.resolve(CONFIG);
        if (!Files.isRegularFile(file)) {
            throw new UsageException("Cannot find " + file.toAbsolutePath()
                    + ": start bin/bellows, or set BELLOWS_HOME to the project's folder");
        }
        BellowsConfig config = BellowsConfig.load(file, allOverrides(), Purpose.TRAIN);
        return new RunSession(console)
                .run("quickstart", config, (spark, c, progress) -> new TrainLoop(spark, c, progress).run());
    }

    /** The preset's paths start at the project's folder, wherever the command was started; the user's word is last. */
    private List<String> allOverrides() {
        List<String> all = new ArrayList<>();
        all.add("model.path=" + quoted(Home.resolve("data-samples/starter")));
        all.add("data.train_files=" + quoted(Home.resolve("data-samples/sums/train.jsonl")));
        all.add("data.val_files=" + quoted(Home.resolve("data-samples/sums/validation.jsonl")));
        all.add("trainer.default_local_dir=" + quoted(runDirectory == null ? freshDirectory() : runDirectory));
        all.addAll(overrides);
        return all;
    }

    private static Path freshDirectory() {
        return Path.of(
                "runs",
                "quickstart-"
                        + LocalDateTime.now(ZoneId.systemDefault())
                                .format(DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss")));
    }

    /** A path as a YAML value, whatever characters it has. */
    private static String quoted(Path path) {
        return "'" + path.toAbsolutePath().normalize().toString().replace("'", "''") + "'";
    }
}
