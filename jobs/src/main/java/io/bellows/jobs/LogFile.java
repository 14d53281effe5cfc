package io.bellows.jobs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LoggerContext;
import picocli.CommandLine.ExitCode;

/**
 * The file everything is logged to, told to log4j2 through the system property {@code bellows.log}. Until a command knows its
 * run directory it is a temporary file. Only the launcher brings our log4j2 configuration: under spark-submit the cluster's rules,
 * and nothing here has an effect.
 */
final class LogFile {

    private static final String PROPERTY = "bellows.log";
    private static final String TEMPORARY = "bellows.log.temporary";

    private LogFile() {}

    /** Logs to a file of its own in the temporary directory, made when the first line is written. */
    static void temporary() {
        if (!ours()) {
            return;
        }
        try {
            // The folder is new and ours alone, so nobody can have put a link in the place of the file.
            Path folder = Files.createTempDirectory("bellows-");
            System.setProperty(TEMPORARY, folder.toString());
            move(folder.resolve("bellows.log"));
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot log: the temporary directory is not writable", e);
        }
    }

    /** Logs to {@code logs/bellows.log} of a run directory on a local disk. */
    static void in(Path runDirectory) {
        if (!ours()) {
            return;
        }
        try {
            Path folder = Files.createDirectories(runDirectory.resolve("logs"));
            move(folder.resolve("bellows.log"));
            discardTemporary();
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot write to the run directory " + runDirectory, e);
        }
    }

    /** Where a person finds what was logged. */
    static String current() {
        return System.getProperty(PROPERTY, "the log of Spark's driver");
    }

    /** Stops logging, and removes the temporary file unless the command failed and it says why. */
    static void close(int exitCode) {
        LogManager.shutdown();
        if (exitCode != ExitCode.SOFTWARE) {
            discardTemporary();
        }
    }

    private static boolean ours() {
        return System.getProperty("bellows.home") != null;
    }

    private static void discardTemporary() {
        String folder = System.clearProperty(TEMPORARY);
        if (folder == null) {
            return;
        }
        try {
            Files.deleteIfExists(Path.of(folder, "bellows.log"));
            Files.deleteIfExists(Path.of(folder));
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot remove " + folder, e);
        }
    }

    private static void move(Path file) {
        System.setProperty(PROPERTY, file.toString());
        if (LogManager.getContext(false) instanceof LoggerContext context) {
            context.reconfigure();
        }
    }
}
