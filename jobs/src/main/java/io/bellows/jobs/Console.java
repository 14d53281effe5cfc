package io.bellows.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintWriter;

/**
 * Where a command writes. Text for people goes to standard output, or, with {@code --json}, to standard error, so that standard
 * output holds data only.
 */
final class Console {

    /** What standard output is for. */
    enum Mode {
        /** People. */
        TEXT,
        /** Programs: {@code --json}. */
        JSON
    }

    private final PrintWriter out;
    private final PrintWriter err;
    private final Mode mode;

    Console(PrintWriter out, PrintWriter err, Mode mode) {
        this.out = out;
        this.err = err;
        this.mode = mode;
    }

    /** A line, or several, for people. */
    void say(String text) {
        human().println(text);
        human().flush();
    }

    /** A line for people that must not mix with data, also without {@code --json}. */
    void warn(String text) {
        err.println(text);
        err.flush();
    }

    /** A line of data: standard output in both modes. */
    void data(String line) {
        out.println(line);
    }

    /** The object that ends a {@code --json} command; nothing otherwise. */
    void result(ObjectNode result) {
        if (mode == Mode.JSON) {
            out.println(result);
        }
        out.flush();
    }

    /** Where {@link #say} writes. */
    PrintWriter human() {
        return mode == Mode.JSON ? err : out;
    }

    /** True when {@link #say} reaches a terminal; the launcher knows. */
    boolean terminal() {
        return Boolean.getBoolean(mode == Mode.JSON ? "bellows.terminal.err" : "bellows.terminal.out");
    }

    Mode mode() {
        return mode;
    }
}
