package io.bellows.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.data.ProductProblems;
import io.bellows.data.ProductProblems.Sizes;
import io.bellows.tool.ToolRegistry;
import io.bellows.tool.ToolSession;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "products",
        description = {
            "Writes the data of the calculator example: products of two- and three-digit integers.",
            "train.jsonl and validation.jsonl to reinforce, lessons.jsonl to teach its starter model."
        })
final class ProductsCommand extends Subcommand {

    @Option(names = "--out", required = true, paramLabel = "DIR", description = "Folder to write into.")
    private Path folder;

    @Option(
            names = "--tools",
            defaultValue = "conf/tools/calculator.yaml",
            paramLabel = "FILE",
            description = "Tool configuration with the calculator (default: ${DEFAULT-VALUE}).")
    private Path tools;

    @Option(
            names = "--seed",
            defaultValue = "42",
            paramLabel = "SEED",
            description = "Seed of all draws (default: ${DEFAULT-VALUE}).")
    private long seed;

    @Option(
            names = "--training",
            defaultValue = "4000",
            paramLabel = "N",
            description = "Problems to reinforce (default: ${DEFAULT-VALUE}).")
    private int training;

    @Option(
            names = "--taught",
            defaultValue = "30000",
            paramLabel = "N",
            description = "Problems to teach the starter model with, two lessons each (default: ${DEFAULT-VALUE}).")
    private int taught;

    @Option(
            names = "--held-out",
            defaultValue = "200",
            paramLabel = "N",
            description = "Problems that occur nowhere in training (default: ${DEFAULT-VALUE}).")
    private int heldOut;

    @Override
    ObjectNode run(Console console) throws IOException {
        ToolRegistry registry = ToolRegistry.builder()
                .nativeTools(tools.toString(), Files.readString(tools))
                .build();
        try (ToolSession session = registry.open(null, null, String::length, Duration.ofHours(1))) {
            new ProductProblems(seed, new Sizes(training, heldOut, taught)).write(folder, session);
        }
        console.say("Wrote " + training + " training problems, " + heldOut + " held-out ones and the lessons of "
                + taught + " to " + folder);
        return object().put("folder", folder.toString())
                .put("training", training)
                .put("held_out", heldOut)
                .put("taught", taught);
    }
}
