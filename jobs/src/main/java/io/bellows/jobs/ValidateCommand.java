package io.bellows.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.config.BellowsConfig;
import io.bellows.config.InvalidConfigException;
import io.bellows.config.Purpose;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "validate",
        description = "Checks a configuration and names every error at once, each with key, value and remedy.")
final class ValidateCommand extends Subcommand {

    @Mixin
    private ConfigArguments arguments;

    @Option(
            names = "--for",
            defaultValue = "train",
            paramLabel = "COMMAND",
            description = "The command it is for: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private Purpose purpose;

    @Override
    ObjectNode run(Console console) {
        ObjectNode result = object();
        try {
            BellowsConfig config = arguments.load(purpose);
            console.say("Valid. Run directory: " + config.trainer().runDirectory());
            result.put("valid", true).put("hash", config.hash()).set("config", config.resolved());
        } catch (InvalidConfigException e) {
            console.warn(e.getMessage());
            result.put("valid", false);
            e.errors().forEach(result.putArray("errors")::add);
        }
        return result;
    }

    @Override
    int exitCode(ObjectNode result) {
        return result.get("valid").asBoolean() ? ExitCode.OK : ExitCode.USAGE;
    }
}
