package io.bellows.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.config.BellowsConfig;
import io.bellows.config.Purpose;
import io.bellows.run.SftLoop;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(
        name = "sft",
        description = {
            "Fine-tunes a model, or trains a new one, on prompts with their completions; the loss is on the completions.",
            "Started again on the same run directory it goes on where it stopped."
        })
final class SftCommand extends Subcommand {

    @Mixin
    private ConfigArguments arguments;

    @Override
    ObjectNode run(Console console) throws Exception {
        BellowsConfig config = arguments.load(Purpose.SFT);
        return new RunSession(console)
                .run("sft", config, (spark, c, progress) -> new SftLoop(spark, c, progress).run());
    }
}
