package io.bellows.benchmarks;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The benchmarks as one command line: {@code benchmarks/run NAME [options]}. */
@Command(
        name = "benchmarks/run",
        mixinStandardHelpOptions = true,
        description = "Measures a part of Bellows and prints one JSON line.",
        subcommands = {
            UpdateBenchmark.class,
            LogProbsBenchmark.class,
            IterationBenchmark.class,
            GrowthBenchmark.class,
            AlgorithmsBenchmark.class,
            RolloutBenchmark.class,
            LengthsBenchmark.class,
            SharedPromptBenchmark.class,
            FaultsBenchmark.class,
            RingBenchmark.class,
            ExecutorsBenchmark.class,
            OccupancyBenchmark.class
        },
        synopsisSubcommandLabel = "NAME")
public final class Benchmarks {

    private Benchmarks() {}

    /**
     * Runs one benchmark and exits with 0, or with 1 or 2 if it failed or was asked for something that there is not.
     *
     * @param args the name of a benchmark and its options
     */
    public static void main(String[] args) {
        System.exit(new CommandLine(new Benchmarks()).execute(args));
    }
}
