package io.bellows.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.config.BellowsConfig;
import io.bellows.run.Replay;
import io.bellows.run.ReplayReport;
import io.bellows.run.RunDirectory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.SparkSession;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "replay",
        description = {
            "Computes an iteration again from its stored trajectories: scores, log-probs, advantages and the update, without sampling.",
            "The outcome is a run directory of its own; the run is only read. What differs is said."
        })
final class ReplayCommand extends Subcommand {

    @Parameters(paramLabel = "RUN", description = "The run directory.")
    private String run;

    @Option(names = "--iteration", required = true, paramLabel = "N", description = "The iteration, from 1.")
    private int iteration;

    @Option(
            names = "--set",
            arity = "1..*",
            paramLabel = "key=value",
            description = "Another reward, estimator or loss, such as algorithm.adv_estimator=rloo. The value is YAML."
                    + " Keys that decide on what is sampled are refused.")
    private List<String> changes = new ArrayList<>();

    @Option(
            names = {"-o", "--output"},
            paramLabel = "DIR",
            description = "An empty or new folder; default: RUN-replay-N.")
    private String output;

    @Override
    ObjectNode run(Console console) throws IOException {
        if (iteration < 1) {
            throw new UsageException("Invalid --iteration " + iteration + ": iterations count from 1");
        }
        BellowsConfig stored = RunDirectory.storedConfig(run)
                .orElseThrow(() -> new UsageException("Cannot find a run in " + run + ": there is no run.json in it"));
        String target = output == null ? run.replaceAll("/+$", "") + "-replay-" + iteration : output;
        ReplayReport report;
        try (SparkSession spark = Session.open("replay", stored.spark().properties())) {
            report = new Replay(spark, run, iteration, changes, target, new ConsoleProgress(console, System::nanoTime))
                    .run();
        }
        say(console, report);
        return result(report);
    }

    private static void say(Console console, ReplayReport report) {
        console.say("");
        console.say("rewards     " + text(report.rewards()));
        console.say("log-probs   " + text(report.logProbs()));
        console.say("advantages  " + text(report.advantages()));
        for (ReplayReport.Weights weights : report.weights()) {
            console.say("%-11s %s".formatted(weights.folder(), text(weights)));
        }
        if (report.weights().isEmpty()) {
            console.say("weights     not compared: the run's checkpoint of iteration " + report.iteration()
                    + " is deleted");
        }
        if (!report.metrics().isEmpty()) {
            console.say(table(report.metrics()));
        }
        console.say(
                report.isIdentical()
                        ? "iteration " + report.iteration() + " is the same, in " + report.replay()
                        : "iteration " + report.iteration() + " differs, in " + report.replay());
    }

    private static String text(ReplayReport.Rows rows) {
        return rows.different() == 0
                ? rows.rows() + " rows, the same"
                : rows.different() + " of " + rows.rows() + " rows differ, by at most "
                        + MetricLine.number(rows.largest());
    }

    private static String text(ReplayReport.Weights weights) {
        return weights.identical()
                ? "the same bit for bit"
                : weights.largest() == null ? "differs" : "differs, by at most " + weights.largest();
    }

    private static String table(List<ReplayReport.Metric> metrics) {
        TextTable table = new TextTable(List.of("metric", "stored", "replayed"));
        metrics.forEach(
                metric -> table.add(List.of(metric.name(), number(metric.stored()), number(metric.replayed()))));
        return table.render();
    }

    private static String number(Double value) {
        return value == null ? "" : MetricLine.number(value);
    }

    private ObjectNode result(ReplayReport report) {
        ObjectNode result = object().put("run", report.run())
                .put("replay", report.replay())
                .put("iteration", report.iteration())
                .put("identical", report.isIdentical());
        changes.forEach(result.putArray("changes")::add);
        put(result.putObject("rewards"), report.rewards());
        put(result.putObject("log_probs"), report.logProbs());
        put(result.putObject("advantages"), report.advantages());
        ObjectNode weights = result.putObject("weights");
        report.weights()
                .forEach(folder -> weights.putObject(folder.folder())
                        .put("identical", folder.identical())
                        .put("largest", folder.largest()));
        ObjectNode metrics = result.putObject("metrics");
        report.metrics()
                .forEach(metric -> metrics.putObject(metric.name())
                        .put("stored", metric.stored())
                        .put("replayed", metric.replayed()));
        return result;
    }

    private static void put(ObjectNode object, ReplayReport.Rows rows) {
        object.put("rows", rows.rows()).put("different", rows.different()).put("largest", rows.largest());
    }
}
