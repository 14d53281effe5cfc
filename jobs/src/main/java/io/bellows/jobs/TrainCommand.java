package io.bellows.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.config.BellowsConfig;
import io.bellows.config.Purpose;
import io.bellows.run.TrainLoop;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(
        name = "train",
        description = {
            "Trains a policy by reinforcement learning: rollout, score, advantage, update, iteration after iteration.",
            "Started again on the same run directory it goes on where it stopped."
        })
final class TrainCommand extends Subcommand {

    @Mixin
    private ConfigArguments arguments;

    @Override
    ObjectNode run(Console console) throws Exception {
        BellowsConfig config = arguments.load(Purpose.TRAIN);
        return new RunSession(console)
                .run("train", config, (spark, c, progress) -> new TrainLoop(spark, c, progress).run());
    }
}
