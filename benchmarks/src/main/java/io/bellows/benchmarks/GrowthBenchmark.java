package io.bellows.benchmarks;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** How the time of an iteration grows with the batch, the length of responses and the model. */
@Command(
        name = "growth",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description = {
            "Measures whole iterations, each four times the work of the one before, and fits seconds = c x^exponent.",
            "The heap after each run, collected, is what the driver holds."
        })
final class GrowthBenchmark implements Callable<Integer> {

    /** What grows. */
    private enum Axis {
        /** 64 to 4,096 samples of a tiny model, 64 + 64 tokens. */
        BATCH(run -> run.get("prompts").asDouble() * run.get("samples").asDouble()) {
            @Override
            List<List<String>> runs() {
                return each("--prompts", "8", "32", "128", "512");
            }
        },
        /** 128 samples of a tiny model with responses of 16 to 1,024 tokens. */
        RESPONSE(run -> run.get("new").asDouble()) {
            @Override
            List<List<String>> runs() {
                return each("--new", "16", "64", "256", "1024");
            }
        },
        /** 32 samples, 64 + 64 tokens, of a model of 3 thousand, 3.4 million and 88 million parameters. */
        MODEL(run -> run.get("parameters").asDouble()) {
            @Override
            List<List<String>> runs() {
                return List.of(
                        List.of("--prompts", "4", "--size", "TINY"),
                        List.of("--prompts", "4", "--size", "S"),
                        List.of("--prompts", "4", "--size", "M"));
            }
        };

        private final ToDoubleFunction<ObjectNode> value;

        Axis(ToDoubleFunction<ObjectNode> value) {
            this.value = value;
        }

        /** Options of {@link IterationBenchmark}, run by run. */
        abstract List<List<String>> runs();

        private static List<List<String>> each(String option, String... values) {
            List<List<String>> runs = new ArrayList<>();
            for (String value : values) {
                runs.add(List.of("--size", "TINY", option, value));
            }
            return runs;
        }
    }

    @Option(names = "--axis", defaultValue = "BATCH", description = "${COMPLETION-CANDIDATES}")
    private Axis axis;

    @Option(names = "--iterations", defaultValue = "3", description = "Measured iterations of each run.")
    private int iterations;

    @Override
    public Integer call() throws IOException {
        List<Double> values = new ArrayList<>();
        List<Double> seconds = new ArrayList<>();
        for (List<String> options : axis.runs()) {
            IterationBenchmark iteration = new IterationBenchmark();
            List<String> arguments = new ArrayList<>(options);
            arguments.addAll(List.of("--iterations", Integer.toString(iterations)));
            new CommandLine(iteration).parseArgs(arguments.toArray(String[]::new));
            ObjectNode run = iteration.measure();
            values.add(axis.value.applyAsDouble(run));
            seconds.add(run.get("seconds").asDouble());
            int last = values.size() - 1;
            run.put("axis", axis.name()).put("value", values.get(last));
            if (last > 0) {
                run.put("exponent", exponent(values.subList(last - 1, last + 1), seconds.subList(last - 1, last + 1)))
                        .put("exponent_of_all", exponent(values, seconds));
            }
            System.out.println(run);
        }
        return 0;
    }

    /** The slope of the line through the logarithms, by least squares. */
    private static double exponent(List<Double> values, List<Double> seconds) {
        double meanX = values.stream().mapToDouble(Math::log).average().orElseThrow();
        double meanY = seconds.stream().mapToDouble(Math::log).average().orElseThrow();
        double products = 0;
        double squares = 0;
        for (int i = 0; i < values.size(); i++) {
            double x = Math.log(values.get(i)) - meanX;
            products += x * (Math.log(seconds.get(i)) - meanY);
            squares += x * x;
        }
        return products / squares;
    }
}
