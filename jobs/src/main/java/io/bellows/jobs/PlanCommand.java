package io.bellows.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.cluster.ExecutorMemory;
import io.bellows.config.BellowsConfig;
import io.bellows.config.Purpose;
import io.bellows.run.MemoryCheck;
import io.bellows.run.MemoryPlan;
import java.util.List;
import java.util.Optional;
import org.apache.spark.SparkConf;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "plan",
        description = {
            "Says what memory an executor needs for a run, and whether that fits: into this machine, or with a master of YARN or"
                    + " Kubernetes into the containers that the configuration asks for.",
            "It starts nothing. Exit code 1: it cannot fit."
        })
final class PlanCommand extends Subcommand {

    @Mixin
    private ConfigArguments arguments;

    @Option(
            names = "--for",
            defaultValue = "train",
            paramLabel = "COMMAND",
            description = "The command it is for: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private Purpose purpose;

    @Option(
            names = "--executors",
            defaultValue = "1",
            paramLabel = "N",
            description =
                    "Executors, each a rank of the update, unless the configuration names ranks (default: ${DEFAULT-VALUE}).")
    private int executors;

    @Override
    ObjectNode run(Console console) {
        if (executors < 1) {
            throw new UsageException("Invalid --executors " + executors + ": expected at least 1");
        }
        BellowsConfig config = arguments.load(purpose);
        Integer configured = config.trainer().ranks();
        MemoryCheck check = new MemoryCheck(config, purpose, configured == null ? executors : configured);
        SparkConf conf = properties(config);
        Optional<ExecutorMemory> executor = executor(conf);
        Optional<String> problem = executor.flatMap(there -> check.problem(there, conf, 1));
        Optional<String> warning = executor.flatMap(there -> check.tight(there, conf, 1));
        console.say(table(check.plan()));
        console.say("");
        console.say("Java heap at least " + MemoryPlan.text(check.plan().heap()) + "; on YARN and Kubernetes"
                + " spark.executor.memoryOverhead=" + check.memoryOverhead());
        console.say(verdict(executor, problem.or(() -> warning)));
        return result(check, problem, warning, executor.isPresent());
    }

    private static SparkConf properties(BellowsConfig config) {
        SparkConf conf = new SparkConf(); // with what spark-submit was given
        config.spark().properties().forEach(conf::setIfMissing);
        return conf;
    }

    /** What an executor will have, where that is known before there are any. */
    private static Optional<ExecutorMemory> executor(SparkConf conf) {
        String master = conf.get("spark.master", "local");
        if (master.equals("local") || master.startsWith("local[")) {
            return Optional.of(ExecutorMemory.here());
        }
        return ExecutorMemory.hasContainers(master)
                ? Optional.of(new ExecutorMemory(
                        "each", master, Long.MAX_VALUE, conf.getSizeAsBytes("spark.executor.memory", "1g"), 0))
                : Optional.empty();
    }

    private static String table(MemoryPlan plan) {
        TextTable table = new TextTable(List.of("an executor's memory", "", "bytes"));
        plan.parts().forEach((name, bytes) -> table.add(List.of(name, MemoryPlan.text(bytes), bytes.toString())));
        table.add(List.of("kept by the allocator, up to", MemoryPlan.text(plan.kept()), Long.toString(plan.kept())));
        table.add(List.of("Java and libtorch", MemoryPlan.text(plan.process()), Long.toString(plan.process())));
        table.add(List.of("beside the Java heap", MemoryPlan.text(plan.bytes()), Long.toString(plan.bytes())));
        return table.render();
    }

    private static String verdict(Optional<ExecutorMemory> executor, Optional<String> remark) {
        if (executor.isEmpty()) {
            return "What the executors have is known once they are there: a run asks them before it starts";
        }
        return remark.orElse("It fits");
    }

    private static ObjectNode result(
            MemoryCheck check, Optional<String> problem, Optional<String> warning, boolean compared) {
        MemoryPlan plan = check.plan();
        ObjectNode result = object();
        ObjectNode parts = result.putObject("parts");
        plan.parts().forEach(parts::put);
        result.put("kept", plan.kept())
                .put("process", plan.process())
                .put("bytes", plan.bytes())
                .put("heap", plan.heap())
                .put("memory_overhead", check.memoryOverhead());
        if (compared) {
            result.put("fits", problem.isEmpty());
            problem.ifPresent(text -> result.put("problem", text));
            warning.ifPresent(text -> result.put("warning", text));
        }
        return result;
    }

    @Override
    int exitCode(ObjectNode result) {
        return result.path("fits").asBoolean(true) ? ExitCode.OK : ExitCode.SOFTWARE;
    }
}
