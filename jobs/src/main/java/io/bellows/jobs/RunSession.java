package io.bellows.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.config.BellowsConfig;
import io.bellows.run.Progress;
import io.bellows.run.RunSummary;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.SparkSession;

/** A run as a person sees it: its log in the run directory, progress, a final table, a chart, and one JSON object. */
final class RunSession {

    private static final int MOST_ROWS = 20;
    private static final List<String> COLUMNS = List.of(
            "step",
            "critic/rewards/mean",
            "acc/mean@1",
            "response_length/mean",
            "actor/entropy",
            "actor/grad_norm",
            "train/loss",
            "timing_s/step");

    /** What runs: the loop of reinforcement learning, or supervised fine-tuning. */
    @FunctionalInterface
    interface Loop {
        RunSummary run(SparkSession spark, BellowsConfig config, Progress progress) throws Exception;
    }

    private final Console console;

    RunSession(Console console) {
        this.console = console;
    }

    /**
     * Runs {@code loop} from start to end.
     *
     * @param name of the Spark application
     * @return what {@code --json} prints
     */
    ObjectNode run(String name, BellowsConfig config, Loop loop) throws Exception {
        Optional<Path> local = localDirectory(config.trainer().runDirectory());
        local.ifPresent(LogFile::in);
        RunSummary summary;
        try (SparkSession spark = Session.open(name, config.spark().properties())) {
            summary = loop.run(spark, config, new ConsoleProgress(console, System::nanoTime));
        }
        console.say("");
        console.say(table(summary.metrics()));
        ObjectNode result = result(summary);
        if (local.isPresent() && !summary.metrics().isEmpty()) {
            chart(local.get(), summary).ifPresent(file -> result.put("chart", file.toString()));
        }
        console.say(closingLine(summary));
        return result;
    }

    private static Optional<Path> localDirectory(String run) {
        if (run.startsWith("file:")) {
            return Optional.of(
                    Path.of(new org.apache.hadoop.fs.Path(run).toUri().getPath()));
        }
        return run.contains("://") ? Optional.empty() : Optional.of(Path.of(run).toAbsolutePath());
    }

    /** A run as people write it: a plain path when it is on a local disk. */
    private static String place(String run) {
        return localDirectory(run).map(Path::toString).orElse(run);
    }

    private Optional<Path> chart(Path run, RunSummary summary) {
        Path file = run.resolve("chart.png");
        try {
            RunChart.write(file, run.getFileName().toString(), summary.metrics());
            return Optional.of(file);
        } catch (IOException e) {
            console.warn("Warning: " + e.getMessage());
            return Optional.empty();
        }
    }

    /** First, last, and evenly chosen iterations between. */
    static String table(List<Map<String, Double>> metrics) {
        List<String> columns = COLUMNS.stream()
                .filter(column -> column.equals("step") || metrics.stream().anyMatch(row -> value(row, column) != null))
                .toList();
        TextTable table = new TextTable(columns);
        int size = metrics.size();
        int rows = Math.min(size, MOST_ROWS);
        for (int r = 0; r < rows; r++) {
            int index = rows == 1 ? 0 : (int) ((long) r * (size - 1) / (rows - 1));
            Map<String, Double> row = metrics.get(index);
            table.add(columns.stream().map(column -> cell(row, column, index)).toList());
        }
        return table.render();
    }

    private static String cell(Map<String, Double> row, String column, int index) {
        if (column.equals("step")) {
            return MetricLine.number(row.getOrDefault("training/global_step", (double) index));
        }
        Double value = value(row, column);
        return value == null ? "" : MetricLine.number(value);
    }

    private static Double value(Map<String, Double> row, String column) {
        return column.equals("acc/mean@1") ? RunChart.accuracy(row) : row.get(column);
    }

    private static String closingLine(RunSummary summary) {
        String accuracy = Double.isNaN(summary.accuracyEnd())
                ? ""
                : "accuracy " + MetricLine.number(summary.accuracyStart()) + " -> "
                        + MetricLine.number(summary.accuracyEnd()) + ", ";
        return accuracy + summary.iterations() + " iterations, " + MetricLine.number(summary.seconds()) + " s, in "
                + place(summary.run());
    }

    private static ObjectNode result(RunSummary summary) {
        ObjectNode result = object();
        putNumber(result, "accuracy_start", summary.accuracyStart());
        putNumber(result, "accuracy_end", summary.accuracyEnd());
        result.put("iterations", summary.iterations());
        putNumber(result, "seconds", summary.seconds());
        result.put("run", place(summary.run()));
        if (!summary.metrics().isEmpty()) {
            ObjectNode last = result.putObject("metrics");
            summary.metrics().get(summary.metrics().size() - 1).forEach((name, value) -> putNumber(last, name, value));
        }
        return result;
    }

    private static ObjectNode object() {
        return Subcommand.object();
    }

    /** JSON has no NaN: what was not measured is null. */
    private static void putNumber(ObjectNode object, String name, double value) {
        if (Double.isFinite(value)) {
            object.put(name, value);
        } else {
            object.putNull(name);
        }
    }
}
