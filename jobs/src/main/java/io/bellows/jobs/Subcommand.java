package io.bellows.jobs;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** What all commands share: {@code --help}, {@code --version}, {@code --json}, and a log file. */
@Command(mixinStandardHelpOptions = true, versionProvider = Version.class, sortOptions = false)
abstract class Subcommand implements Callable<Integer> {

    @Option(
            names = "--json",
            description = "End with one JSON object on standard output; text for people goes to standard error.")
    private boolean json;

    @Spec
    private CommandSpec spec;

    /**
     * Does the work.
     *
     * @return what {@code --json} prints
     */
    abstract ObjectNode run(Console console) throws Exception;

    /** Exit code for a result that came out without an exception. */
    int exitCode(ObjectNode result) {
        return 0;
    }

    @Override
    public final Integer call() throws Exception {
        LogFile.temporary();
        Console console = console();
        ObjectNode result;
        try {
            result = run(console);
        } catch (OutOfMemoryError e) {
            throw new IllegalStateException("Cannot go on: the Java heap is full; raise BELLOWS_HEAP", e);
        } catch (LinkageError | StackOverflowError e) {
            throw new IllegalStateException(e); // to the handler of failures, which takes exceptions only
        }
        console.result(result);
        return exitCode(result);
    }

    /** The console of this call. */
    Console console() {
        return new Console(
                spec.commandLine().getOut(), spec.commandLine().getErr(), json ? Console.Mode.JSON : Console.Mode.TEXT);
    }

    /** An empty JSON object. */
    static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }
}
