package io.bellows.jobs;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.config.BellowsConfig;
import io.bellows.config.InvalidConfigException;
import io.bellows.config.Key;
import io.bellows.config.Purpose;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "validate",
        description = "Checks a configuration and names every error at once, each with key, value and remedy.")
final class ValidateCommand extends Subcommand {

    /** What to look at: a configuration, or what holds without one. */
    private static final class Subject {

        @Option(
                names = {"-c", "--config"},
                required = true,
                paramLabel = "FILE",
                description = ConfigArguments.ABOUT_FILE)
        private Path file;

        @Option(
                names = "--defaults",
                required = true,
                description = "List every key with its default and its meaning instead.")
        private boolean defaults;
    }

    @ArgGroup(exclusive = true, multiplicity = "1")
    private Subject subject;

    @Parameters(arity = "0..*", paramLabel = "key=value", description = ConfigArguments.ABOUT_OVERRIDES)
    private List<String> overrides = new ArrayList<>();

    @Option(
            names = "--for",
            defaultValue = "train",
            paramLabel = "COMMAND",
            description = "The command it is for: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private Purpose purpose;

    @Override
    ObjectNode run(Console console) {
        return subject.defaults ? defaults(console) : validate(console);
    }

    private ObjectNode defaults(Console console) {
        if (!overrides.isEmpty()) {
            throw new UsageException("Invalid argument " + overrides.get(0)
                    + ": --defaults looks at no configuration; leave it out, or give -c FILE instead of --defaults");
        }
        ObjectNode result = object();
        ArrayNode keys = result.putArray("keys");
        for (Key key : BellowsConfig.keys()) {
            console.say(key.name() + "=" + key.defaultValue() + "\n    " + key.about());
            keys.addObject()
                    .put("key", key.name())
                    .put("default", key.defaultValue())
                    .put("meaning", key.about());
        }
        return result;
    }

    private ObjectNode validate(Console console) {
        ObjectNode result = object();
        try {
            BellowsConfig config = BellowsConfig.load(ConfigArguments.find(subject.file), overrides, purpose);
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
        return result.path("valid").asBoolean(true) ? ExitCode.OK : ExitCode.USAGE;
    }
}
