package io.bellows.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.List;

/** One command run in this JVM: its exit code and what it wrote. */
record CommandLineRun(int exitCode, String out, String err) {

    static CommandLineRun of(String... args) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code = new Bellows(new PrintWriter(out), new PrintWriter(err)).run(args);
        return new CommandLineRun(code, out.toString(), err.toString());
    }

    /** Every line of standard output, as JSON. */
    List<JsonNode> lines() {
        return out.lines().map(CommandLineRun::json).toList();
    }

    /** The last line of standard output, as JSON. */
    JsonNode result() {
        List<String> lines = out.lines().toList();
        return json(lines.get(lines.size() - 1));
    }

    private static JsonNode json(String line) {
        try {
            return new ObjectMapper().readTree(line);
        } catch (IOException e) {
            throw new UncheckedIOException(line, e);
        }
    }
}
