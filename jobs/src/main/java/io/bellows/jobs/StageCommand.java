package io.bellows.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.config.BellowsConfig;
import io.bellows.config.Purpose;
import io.bellows.run.RunDirectory;
import io.bellows.run.TrainLoop;
import io.bellows.run.TrainLoop.Stage;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** One stage of one iteration, for schedulers that run each as a task of its own. Done is done: run again it exits with 0. */
abstract class StageCommand extends Subcommand {

    @Option(names = "--run", required = true, paramLabel = "RUN", description = "The run directory.")
    private String run;

    @Option(names = "--iteration", required = true, paramLabel = "N", description = "The iteration, from 1.")
    private int iteration;

    @Option(
            names = {"-c", "--config"},
            paramLabel = "FILE",
            description = "Needed where the run directory does not exist yet, and creates it; else what it was created with holds.")
    private Path file;

    @Parameters(arity = "0..*", paramLabel = "key=value", description = ConfigArguments.ABOUT_OVERRIDES)
    private List<String> overrides = new ArrayList<>();

    private final Stage stage;

    StageCommand(Stage stage) {
        this.stage = stage;
    }

    @Override
    ObjectNode run(Console console) throws Exception {
        if (iteration < 1) {
            throw new UsageException("Invalid --iteration " + iteration + ": iterations count from 1");
        }
        BellowsConfig config = config();
        String name = stage.name().toLowerCase(java.util.Locale.ROOT);
        ObjectNode result = new RunSession(console)
                .run(name, config, (spark, c, progress) -> new TrainLoop(spark, c, progress).run(iteration, stage));
        return result.put("iteration", iteration).put("stage", name);
    }

    private BellowsConfig config() {
        if (file != null) {
            List<String> all = new ArrayList<>(overrides);
            all.add("trainer.default_local_dir=" + run);
            return BellowsConfig.load(ConfigArguments.find(file), all, Purpose.TRAIN);
        }
        if (!overrides.isEmpty()) {
            throw new UsageException("Invalid argument " + overrides.get(0) + ": overrides need -c FILE");
        }
        return RunDirectory.storedConfig(run)
                .orElseThrow(() -> new UsageException("Cannot find a run in " + run
                        + ": there is no run.json in it; give -c FILE to create it"));
    }

    @Command(
            name = "rollout",
            description = "Samples the trajectories of an iteration, unless they are committed; with dynamic sampling those of its"
                    + " first round.")
    static final class Rollout extends StageCommand {
        Rollout() {
            super(Stage.ROLLOUT);
        }
    }

    @Command(name = "score", description = "Scores the trajectories of an iteration, unless their scores are committed.")
    static final class Score extends StageCommand {
        Score() {
            super(Stage.SCORE);
        }
    }

    @Command(name = "advantage", description = "Computes log-probs and advantages, unless they are committed.")
    static final class Advantage extends StageCommand {
        Advantage() {
            super(Stage.ADVANTAGE);
        }
    }

    @Command(name = "update", description = "Updates the models and commits the iteration, unless it is committed.")
    static final class Update extends StageCommand {
        Update() {
            super(Stage.UPDATE);
        }
    }
}
