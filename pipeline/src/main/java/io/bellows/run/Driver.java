package io.bellows.run;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A process that drives a run.
 *
 * @param id unique to one start
 * @param host name of its machine
 * @param pid its process id
 * @param machine what tells whether {@code pid} is meaningful here: the boot and the process namespace; null if unknown
 * @param processStart start of the process, milliseconds since 1970; null if unknown
 * @param user who started it
 */
record Driver(String id, String host, long pid, String machine, Long processStart, String user) {

    /** This process. */
    static Driver current(String id) {
        ProcessHandle process = ProcessHandle.current();
        return new Driver(
                id, hostName(), process.pid(), thisMachine(), startOf(process), System.getProperty("user.name"));
    }

    /** Whether this driver ran here and its process is gone; false where that cannot be known. */
    boolean isKnownToBeDead() {
        if (machine == null || processStart == null || !machine.equals(thisMachine())) {
            return false;
        }
        Optional<ProcessHandle> process = ProcessHandle.of(pid);
        return process.isEmpty() || !process.get().isAlive() || !processStart.equals(startOf(process.get()));
    }

    @Override
    public String toString() {
        return "process " + pid + " of " + user + " on " + host;
    }

    private static Long startOf(ProcessHandle process) {
        return process.info()
                .startInstant()
                .map(java.time.Instant::toEpochMilli)
                .orElse(null);
    }

    private static String hostName() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (IOException e) {
            return "unknown host";
        }
    }

    // Process ids repeat after a reboot and in every container, so both take part.
    private static String thisMachine() {
        try {
            return Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip() + " "
                    + Files.readSymbolicLink(Path.of("/proc/self/ns/pid"));
        } catch (IOException e) {
            return null;
        }
    }
}
