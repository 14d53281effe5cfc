package io.bellows.benchmarks;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.stream.Stream;

/** What can befall a driver in the update of the second iteration, and what a person does about it afterwards. */
enum DriverFault {
    /** Killed while a rank writes the checkpoint. */
    KILLED("driver killed in update") {
        @Override
        void happen(Path run) {
            Thread killer = new Thread(() -> {
                while (!isWritten(run.resolve("checkpoints"))) {
                    Thread.onSpinWait();
                }
                Runtime.getRuntime().halt(128 + 9);
            });
            killer.setDaemon(true);
            killer.start();
        }

        @Override
        void mend(Path run) {}
    },
    /** The file system of the run has no room left. */
    DISK_FULL("disk full in update") {
        @Override
        void happen(Path run) {
            byte[] zeros = new byte[1 << 12];
            try (OutputStream out = Files.newOutputStream(filler(run))) {
                while (true) {
                    out.write(zeros);
                }
            } catch (IOException e) {
                System.err.println("The disk is full: " + e.getMessage());
            }
        }

        @Override
        void mend(Path run) throws IOException {
            Files.delete(filler(run));
        }

        private Path filler(Path run) {
            return run.resolveSibling("filler");
        }
    },
    /** The path of the run leads nowhere, as that of a share whose server is gone. */
    UNREACHABLE("storage unreachable in update") {
        @Override
        void happen(Path run) {
            link(run, Path.of("/proc/unreachable"));
        }

        @Override
        void mend(Path run) {
            link(run, store(run));
        }

        @Override
        Path place(Path folder) throws IOException {
            Path run = folder.resolve("run");
            Files.createDirectories(store(run));
            link(run, store(run));
            return run;
        }

        private Path store(Path run) {
            return run.resolveSibling("store");
        }

        private void link(Path run, Path target) {
            try {
                Path made = Files.createSymbolicLink(run.resolveSibling("link"), target);
                Files.move(made, run, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    },
    /** Nothing. */
    NONE("second driver on the same run") {
        @Override
        void happen(Path run) {}

        @Override
        void mend(Path run) {}
    };

    private final String about;

    DriverFault(String about) {
        this.about = about;
    }

    String about() {
        return about;
    }

    abstract void happen(Path run);

    abstract void mend(Path run) throws IOException;

    /** Where the run is to be, in a folder of its own. */
    Path place(Path folder) throws IOException {
        return folder.resolve("run");
    }

    private static boolean isWritten(Path checkpoints) {
        try (Stream<Path> files = Files.walk(checkpoints)) {
            return files.anyMatch(file -> file.toString().contains("/.attempt-") && file.endsWith("actor"));
        } catch (IOException | UncheckedIOException e) {
            return false; // it changes while it is walked
        }
    }
}
