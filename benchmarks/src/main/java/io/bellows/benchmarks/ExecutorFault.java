package io.bellows.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * What can befall an executor, once. It is armed by a file that driver and executors see; the executor that takes the file away is the
 * one that is hit.
 */
enum ExecutorFault {
    /** Killed while it samples. */
    KILLED_IN_ROLLOUT("executor killed in rollout", "io.bellows.stage.RolloutTask$1", "next"),
    /** Killed while it computes log-probs. */
    KILLED_IN_LOG_PROBS("executor killed in log-probs", "io.bellows.stage.LogProbStage", "score"),
    /** Killed in an optimizer step. */
    KILLED_IN_UPDATE("executor killed in update", "io.bellows.training.Trainer", "step"),
    /** Killed when its rank has written the checkpoint and has not yet told the driver. */
    KILLED_AFTER_UPDATE("executor killed after its update, before the result is read", null, null),
    /** The process stops in an optimizer step and stays, as one on a machine that hangs. */
    STOPPED_IN_UPDATE(
            "a rank's process stops in an optimizer step and never goes on", "io.bellows.training.Trainer", "step"),
    /** A rank's thread does not come to the rendezvous, and cannot be interrupted. */
    STUCK_BEFORE_UPDATE("a rank's thread never comes to the rendezvous", null, null);

    private static final String ARMED = "armed";
    private static final int KILLED = 128 + 9;

    private final String about;
    private final String className;
    private final String method;

    ExecutorFault(String about, String className, String method) {
        this.about = about;
        this.className = className;
        this.method = method;
    }

    String about() {
        return about;
    }

    /** Lets it happen, once {@code condition} exists. */
    void arm(Path folder, Path condition) throws IOException {
        Path file = Files.write(folder.resolve("arming"), List.of(name(), condition.toString()));
        Files.move(file, folder.resolve(ARMED));
    }

    /** Whether it has happened. */
    boolean hasHappened(Path folder) {
        return Files.exists(mark(folder));
    }

    private Path mark(Path folder) {
        return folder.resolve("happened-" + name());
    }

    /** The fault that is armed and whose condition is met. */
    static Optional<ExecutorFault> armed(Path folder) {
        try {
            List<String> lines = Files.readAllLines(folder.resolve(ARMED));
            return Files.exists(Path.of(lines.get(1))) ? Optional.of(valueOf(lines.get(0))) : Optional.empty();
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Whether a thread of this process is where the fault happens. */
    boolean isDue() {
        return className != null
                && Thread.getAllStackTraces().values().stream()
                        .flatMap(java.util.Arrays::stream)
                        .anyMatch(frame -> frame.getClassName().equals(className)
                                && frame.getMethodName().equals(method));
    }

    /** Happens to this process, unless it has happened to another. */
    void strike(Path folder) {
        try {
            Files.move(folder.resolve(ARMED), mark(folder));
        } catch (IOException e) {
            return; // another was hit
        }
        switch (this) {
            case STOPPED_IN_UPDATE -> stop();
            case STUCK_BEFORE_UPDATE -> stick();
            default -> Runtime.getRuntime().halt(KILLED);
        }
    }

    private static void stop() {
        try {
            new ProcessBuilder(
                            "kill",
                            "-STOP",
                            Long.toString(ProcessHandle.current().pid()))
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void stick() {
        while (true) {
            try {
                Thread.sleep(1000);
            } catch (InterruptedException e) {
                // As a thread in native code, which does not hear of it.
            }
        }
    }
}
