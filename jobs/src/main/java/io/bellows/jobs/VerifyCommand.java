package io.bellows.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.run.RunDirectory;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.SparkSession;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Parameters;

@Command(
        name = "verify",
        description = {
            "Compares all that a run has committed with its manifests: checksums of manifests, tables and checkpoints, sizes, rows,"
                    + " and what each table was made from.",
            "Exit code 0: all is as it was written. 1: it names what is not."
        })
final class VerifyCommand extends Subcommand {

    @Parameters(paramLabel = "RUN", description = "A run directory, on any file system that Spark knows.")
    private String run;

    @Override
    ObjectNode run(Console console) {
        List<String> problems;
        try (SparkSession spark = Session.open("verify", Map.of());
                RunDirectory directory = RunDirectory.open(spark, run)) {
            problems = directory.verify();
        }
        problems.forEach(console::say);
        console.say(
                problems.isEmpty()
                        ? "Nothing is wrong with " + run
                        : problems.size() + (problems.size() == 1 ? " problem" : " problems"));
        ObjectNode result = object().put("run", run);
        problems.forEach(result.putArray("problems")::add);
        return result;
    }

    @Override
    int exitCode(ObjectNode result) {
        return result.get("problems").isEmpty() ? ExitCode.OK : ExitCode.SOFTWARE;
    }
}
