package io.bellows.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.client.Protocol;
import io.bellows.client.ServedNames;
import io.bellows.client.Servers;
import io.bellows.config.BellowsConfig;
import io.bellows.config.Purpose;
import io.bellows.run.Evaluation;
import io.bellows.run.EvaluationReport;
import io.bellows.run.EvaluationReport.Average;
import io.bellows.run.EvaluationReport.Source;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.spark.sql.SparkSession;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "eval",
        description = {
            "Evaluates a model on data.val_files, in its environments: the folder of model.path, or OpenAI-compatible servers.",
            "Started again on the same directory it does what is missing, and once more what failed."
        })
final class EvalCommand extends Subcommand {

    private static final int FAILED = 1;

    @Mixin
    private ConfigArguments arguments;

    @Option(
            names = {"-o", "--output"},
            required = true,
            paramLabel = "DIR",
            description = "Directory of the evaluation: its rows are tables, as those of a run.")
    private Path output;

    @Option(
            names = "--model",
            paramLabel = "DIR",
            description =
                    "Hugging Face folder (model.path); with --server its tokenizer and chat template are enough, of whatever model.")
    private Path model;

    @Option(
            names = "--server",
            paramLabel = "URL",
            description = "A server that answers instead, such as http://host:8000/v1; give several for a pool.")
    private List<URI> servers = new ArrayList<>();

    @Option(
            names = "--served-model-name",
            paramLabel = "NAME",
            description = "How the servers name the model (default: the one that they list).")
    private String name;

    @Option(
            names = "--protocol",
            defaultValue = "completions",
            paramLabel = "NAME",
            description =
                    "How servers are asked: completions (token ids and log-probs) or chat (messages; the server reads the calls"
                            + " of tools) (default: ${DEFAULT-VALUE}).")
    private String protocol;

    @Option(
            names = "--api-key-env",
            paramLabel = "VARIABLE",
            description = "The environment variable that holds the servers' key (default: none).")
    private String keyVariable;

    @Option(
            names = "--timeout",
            defaultValue = "600",
            paramLabel = "SECONDS",
            description = "Longest time for a turn of a server, retries included (default: ${DEFAULT-VALUE}).")
    private long timeout;

    @Option(
            names = "--max-retries",
            defaultValue = "8",
            paramLabel = "N",
            description = "How often a server is asked again (default: ${DEFAULT-VALUE}).")
    private int maxRetries;

    @Option(
            names = {"-n", "--num-examples"},
            paramLabel = "N",
            description = "Prompts from the front of the data (data.val_max_samples; default: as configured).")
    private Integer examples;

    @Option(
            names = {"-r", "--rollouts-per-example"},
            paramLabel = "N",
            description = "Trajectories of a prompt (rollout.val_kwargs.n); above 1 with a --temperature.")
    private Integer rollouts;

    @Option(
            names = {"-t", "--temperature"},
            paramLabel = "T",
            description = "Temperature (rollout.val_kwargs); 0 is greedy.")
    private Double temperature;

    @Option(
            names = {"-j", "--concurrency"},
            paramLabel = "N",
            description = "Trajectories at once at the servers, or sequences that the engine decodes at once"
                    + " (rollout.max_num_seqs; default: 32 for servers, else as configured).")
    private Integer concurrency;

    @Override
    ObjectNode run(Console console) throws Exception {
        BellowsConfig config = arguments.load(servers.isEmpty() ? Purpose.EVAL : Purpose.EVAL_OF_SERVERS, overrides());
        Servers asked = servers.isEmpty() ? null : askedServers();
        LogFile.in(output.toAbsolutePath());
        EvaluationReport report;
        try (SparkSession spark = Session.open("eval", config.spark().properties())) {
            report = new Evaluation(spark, config, asked, new ConsoleProgress(console, System::nanoTime)).run();
        }
        say(console, report);
        return result(report);
    }

    /** What options say, as keys of the configuration; they win over the file and the other overrides. */
    private List<String> overrides() {
        List<String> keys = new ArrayList<>();
        keys.add("trainer.default_local_dir=" + output.toAbsolutePath());
        if (model != null) {
            keys.add("model.path=" + model);
        }
        if (examples != null) {
            keys.add("data.val_max_samples=" + examples);
        }
        if (rollouts != null) {
            keys.add("rollout.val_kwargs.n=" + rollouts);
        }
        if (temperature != null) {
            keys.add("rollout.val_kwargs.temperature=" + temperature);
            keys.add("rollout.val_kwargs.do_sample=" + (temperature > 0));
        }
        if (concurrency != null || !servers.isEmpty()) {
            keys.add("rollout.max_num_seqs=" + (concurrency == null ? 32 : concurrency));
        }
        return keys;
    }

    private Servers askedServers() throws InterruptedException {
        try {
            Protocol how = Protocol.valueOf(protocol.toUpperCase(Locale.ROOT));
            Duration longest = Duration.ofSeconds(timeout);
            Servers known = new Servers(servers, name, how, keyVariable, longest, maxRetries);
            return name != null ? known : ServedNames.find(known);
        } catch (IllegalArgumentException e) {
            throw new UsageException(
                    e.getMessage().startsWith("Invalid ")
                            ? e.getMessage()
                            : "Invalid --protocol " + protocol + ": expected completions or chat");
        }
    }

    private static void say(Console console, EvaluationReport report) {
        TextTable table = new TextTable(List.of("data source", "figure", "mean", "count"));
        report.sources().forEach((name, source) -> {
            row(table, name, "accuracy", source.accuracy());
            row(table, name, "reward", source.reward());
            source.passAtK().forEach((k, value) -> row(table, name, "pass@" + k, value));
            source.passHatK().forEach((k, value) -> row(table, name, "pass^" + k, value));
            source.rewards().forEach((reward, value) -> row(table, name, reward, value));
            source.metrics().forEach((metric, value) -> row(table, name, metric, value));
        });
        console.say("");
        console.say(table.render());
        console.say(report.trajectories() + " trajectories, " + report.failed() + " failed, " + report.unscored()
                + " without a reward, " + report.retries() + " retries, in " + report.run()
                + (report.failed() == 0 ? "" : "; the same command runs those that failed again"));
    }

    private static void row(TextTable table, String source, String figure, Average average) {
        table.add(List.of(
                source,
                figure,
                average.count() == 0 ? "" : MetricLine.number(average.mean()),
                String.valueOf(average.count())));
    }

    @Override
    int exitCode(ObjectNode result) {
        return result.path("failed").asLong() > 0 ? FAILED : 0;
    }

    private static ObjectNode result(EvaluationReport report) {
        ObjectNode result = object();
        result.put("run", Path.of(URI.create(report.run())).toString())
                .put("trajectories", report.trajectories())
                .put("failed", report.failed())
                .put("unscored", report.unscored())
                .put("retries", report.retries());
        ObjectNode sources = result.putObject("sources");
        report.sources().forEach((name, source) -> write(sources.putObject(name), source));
        return result;
    }

    private static void write(ObjectNode node, Source source) {
        write(node, "accuracy", source.accuracy());
        write(node, "reward", source.reward());
        ObjectNode passAtK = node.putObject("pass@k");
        source.passAtK().forEach((k, value) -> write(passAtK, String.valueOf(k), value));
        ObjectNode passHatK = node.putObject("pass^k");
        source.passHatK().forEach((k, value) -> write(passHatK, String.valueOf(k), value));
        write(node.putObject("rewards"), source.rewards());
        write(node.putObject("metrics"), source.metrics());
    }

    private static void write(ObjectNode node, Map<String, Average> averages) {
        averages.forEach((name, value) -> write(node, name, value));
    }

    private static void write(ObjectNode node, String name, Average average) {
        ObjectNode written = node.putObject(name);
        written.put("count", average.count());
        if (average.count() > 0) {
            written.put("mean", average.mean());
        }
    }
}
