package io.bellows.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.config.InvalidConfigException;
import io.bellows.run.FailureMessage;
import java.util.Arrays;
import java.util.List;
import org.apache.logging.log4j.LogManager;
import picocli.CommandLine;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** What a person sees of a failure: a message that says what to do. The stack trace goes to the log file. */
final class Failures {

    private Failures() {}

    /** A command line that makes no sense: what is wrong, the nearest option, and where to read on. Exit code 2. */
    static int usage(ParameterException exception, String[] args) {
        CommandLine line = exception.getCommandLine();
        line.getErr().println("bellows: " + exception.getMessage());
        UnmatchedArgumentException.printSuggestions(exception, line.getErr());
        line.getErr().println("Try: " + line.getCommandSpec().qualifiedName() + " --help");
        report(line, Arrays.asList(args).contains("--json"), List.of(exception.getMessage()), ExitCode.USAGE);
        return ExitCode.USAGE;
    }

    /** A command that failed: 2 when the configuration is to blame, 1 otherwise. */
    static int execution(Exception exception, CommandLine line, ParseResult parsed) {
        int code = ExitCode.SOFTWARE;
        List<String> errors = List.of(FailureMessage.of(exception));
        if (exception instanceof InvalidConfigException invalid) {
            code = ExitCode.USAGE;
            errors = invalid.errors();
        } else if (exception instanceof UsageException invalid) {
            code = ExitCode.USAGE;
            errors = invalid.errors();
        }
        line.getErr().println("bellows: " + (code == ExitCode.USAGE ? exception.getMessage() : errors.get(0)));
        if (code != ExitCode.USAGE) {
            LogManager.getLogger(Bellows.class).error("{} failed", line.getCommandName(), exception);
            line.getErr().println("Details: " + LogFile.current());
        }
        report(line, line.getParseResult().hasMatchedOption("--json"), errors, code);
        return code;
    }

    private static void report(CommandLine line, boolean json, List<String> errors, int code) {
        line.getErr().flush();
        if (json) {
            ObjectNode result = Subcommand.object();
            result.put("exit_code", code);
            errors.forEach(result.putArray("errors")::add);
            line.getOut().println(result);
            line.getOut().flush();
        }
    }
}
