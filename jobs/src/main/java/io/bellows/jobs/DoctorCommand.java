package io.bellows.jobs;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Option;

@Command(
        name = "doctor",
        description =
                "Says what this machine offers: Java, cores, memory, native library, GPU, versions, write access.")
final class DoctorCommand extends Subcommand {

    @Option(
            names = "--run-dir",
            defaultValue = "runs",
            paramLabel = "DIR",
            description = "Where runs will be written (default: ${DEFAULT-VALUE}).")
    private Path runDirectory;

    @Override
    ObjectNode run(Console console) {
        List<Examination.Finding> findings = new Examination(runDirectory).findings();
        ObjectNode result = object().put("ok", findings.stream().noneMatch(Examination.Finding::failed));
        ArrayNode checks = result.putArray("checks");
        for (Examination.Finding finding : findings) {
            console.say(String.format("%-5s %-16s %s", finding.status(), finding.name(), finding.detail()));
            checks.addObject()
                    .put("name", finding.name())
                    .put("status", finding.status().name())
                    .put("detail", finding.detail());
        }
        return result;
    }

    @Override
    int exitCode(ObjectNode result) {
        return result.get("ok").asBoolean() ? ExitCode.OK : ExitCode.SOFTWARE;
    }
}
