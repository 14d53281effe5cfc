package io.bellows.jobs;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/**
 * The {@code bellows} command. Exit codes: 0 done, 1 failed, 2 usage or configuration. With {@code --json} the last line of
 * standard output is one JSON object, whatever happened, and everything for people goes to standard error.
 */
@Command(
        name = "bellows",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        description = "Reinforcement-learning post-training of language models on Apache Spark.",
        subcommands = {
            QuickstartCommand.class,
            TrainCommand.class,
            SftCommand.class,
            GenerateCommand.class,
            LogProbsCommand.class,
            RenderCommand.class,
            ServeCommand.class,
            EvalCommand.class,
            StageCommand.Rollout.class,
            StageCommand.Score.class,
            StageCommand.Advantage.class,
            StageCommand.Update.class,
            ReplayCommand.class,
            VerifyCommand.class,
            SqlCommand.class,
            ValidateCommand.class,
            PlanCommand.class,
            DoctorCommand.class,
            SumsCommand.class,
            ProductsCommand.class
        },
        synopsisSubcommandLabel = "COMMAND",
        footer = {"", "bellows COMMAND --help says more. Exit codes: 0 done, 1 failed, 2 usage or configuration."})
public final class Bellows {

    private final PrintWriter out;
    private final PrintWriter err;

    /** A command line that writes results to {@code out} and everything else to {@code err}. */
    Bellows(PrintWriter out, PrintWriter err) {
        this.out = out;
        this.err = err;
    }

    /** Runs one command and exits with its code. */
    public static void main(String[] args) {
        PrintWriter out = new PrintWriter(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        PrintWriter err = new PrintWriter(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
        // Standard output is a contract here: what a library prints must not get between the lines of a result.
        System.setOut(new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8));
        int code = new Bellows(out, err).run(args);
        out.flush();
        err.flush();
        LogFile.close(code);
        System.exit(code);
    }

    /** Runs one command and returns its exit code. */
    int run(String... args) {
        CommandLine line = new CommandLine(this)
                .setOut(out)
                .setErr(err)
                .setAbbreviatedOptionsAllowed(false)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler(Failures::usage)
                .setExecutionExceptionHandler(Failures::execution);
        line.setExecutionStrategy(this::execute);
        return line.execute(args);
    }

    private int execute(ParseResult parsed) {
        if (!parsed.hasSubcommand() && !CommandLine.printHelpIfRequested(parsed)) {
            throw new ParameterException(parsed.commandSpec().commandLine(), "Missing command");
        }
        return parsed.hasSubcommand() ? new CommandLine.RunLast().execute(parsed) : 0;
    }
}
