package io.bellows.benchmarks;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.concurrent.Callable;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Runs {@link Algorithms} under JMH, each in a JVM of its own. */
@Command(
        name = "algorithms",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description = "Measures the algorithms that need no model with JMH, and prints a JSON line for each.")
final class AlgorithmsBenchmark implements Callable<Integer> {

    @Option(names = "--only", defaultValue = ".*", description = "Regular expression of those to run.")
    private String only;

    @Option(names = "--seconds", defaultValue = "1", description = "Of each of three warm-ups and five measurements.")
    private int seconds;

    @Override
    public Integer call() throws RunnerException {
        TimeValue time = TimeValue.seconds(seconds);
        new Runner(new OptionsBuilder()
                        .include(Algorithms.class.getName() + "\\." + only + "$")
                        .forks(1)
                        .jvmArgs("-Xmx512m") // not Spark's, which have it print a warning among the lines
                        .warmupIterations(3)
                        .warmupTime(time)
                        .measurementIterations(5)
                        .measurementTime(time)
                        .verbosity(VerboseMode.SILENT)
                        .build())
                .run()
                .forEach(AlgorithmsBenchmark::print);
        return 0;
    }

    private static void print(RunResult run) {
        Result<?> result = run.getPrimaryResult();
        System.out.println(new ObjectMapper()
                .createObjectNode()
                .put("benchmark", "algorithms")
                .put("algorithm", result.getLabel())
                .put("microseconds", result.getScore())
                .put("error", result.getScoreError()));
    }
}
