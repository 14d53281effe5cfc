package io.bellows.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.data.SumProblems;
import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "sums",
        description = {
            "Writes the data of the quickstart: sums of two three-digit integers.",
            "train.jsonl and validation.jsonl to reinforce, lessons.jsonl to teach the starter model."
        })
final class SumsCommand extends Subcommand {

    private static final double DIRECT_SHARE = 0.6;

    @Option(names = "--out", required = true, paramLabel = "DIR", description = "Folder to write into.")
    private Path folder;

    @Option(
            names = "--seed",
            defaultValue = "42",
            paramLabel = "SEED",
            description = "Seed of all draws (default: ${DEFAULT-VALUE}).")
    private long seed;

    @Option(
            names = "--training",
            defaultValue = "20000",
            paramLabel = "N",
            description = "Training problems (default: ${DEFAULT-VALUE}).")
    private int training;

    @Option(
            names = "--held-out",
            defaultValue = "500",
            paramLabel = "N",
            description = "Problems that occur nowhere in training (default: ${DEFAULT-VALUE}).")
    private int heldOut;

    @Override
    ObjectNode run(Console console) throws IOException {
        new SumProblems(seed, training, heldOut, DIRECT_SHARE).write(folder);
        console.say("Wrote " + training + " training and " + heldOut + " held-out problems to " + folder);
        return object().put("folder", folder.toString())
                .put("training", training)
                .put("held_out", heldOut);
    }
}
