package io.bellows.run;

import com.fasterxml.jackson.core.JsonProcessingException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The right to write to a run. Leases are numbered files; creating the next number is atomic, so of two drivers that take
 * over at once one wins, and the loser as well as the former holder notice the higher number before they commit.
 */
final class Lease implements AutoCloseable {

    /** The lease counts as abandoned when its heartbeat is older than this many periods. */
    static final int PERIODS_TO_LIVE = 3;

    /**
     * Content of a lease file.
     *
     * @param driver who holds it
     * @param heartbeat last sign of life, milliseconds since 1970
     * @param periodMillis time between heartbeats
     * @param released whether the holder ended in order
     */
    record Content(Driver driver, long heartbeat, long periodMillis, boolean released) {}

    private static final Logger LOG = LoggerFactory.getLogger(Lease.class);

    private final RunFiles files;
    private final Clock clock;
    private final Duration period;
    private final Driver driver;
    private final int number;
    private final ScheduledFuture<?> heartbeats;
    private volatile long lastHeartbeat;
    private boolean closed;

    private Lease(
            RunFiles files,
            Clock clock,
            ScheduledExecutorService scheduler,
            Duration period,
            Driver driver,
            int number,
            long acquired) {
        this.files = files;
        this.clock = clock;
        this.period = period;
        this.driver = driver;
        this.number = number;
        this.lastHeartbeat = acquired;
        this.heartbeats = scheduler.scheduleAtFixedRate(
                this::beatIfPossible, period.toMillis(), period.toMillis(), TimeUnit.MILLISECONDS);
    }

    /**
     * Takes the lease of a run: the first one, one that was released, or one whose holder is dead.
     *
     * @throws InvalidRunException when another driver holds it
     */
    static Lease acquire(RunFiles files, Clock clock, ScheduledExecutorService scheduler, Duration period) {
        List<FileStatus> leases = leases(files);
        int number = 1;
        if (!leases.isEmpty()) {
            FileStatus latest = leases.get(leases.size() - 1);
            refuseIfHeld(files, latest, clock.millis(), period);
            number = numberOf(latest) + 1;
        }
        Driver driver = Driver.current(UUID.randomUUID().toString());
        long now = clock.millis();
        if (!files.publish(file(files, number), Json.pretty(new Content(driver, now, period.toMillis(), false)))) {
            throw new InvalidRunException("Cannot take over the run " + files.root()
                    + ": another driver has just done so; wait for it, or choose another trainer.default_local_dir");
        }
        leases.forEach(old -> files.delete(old.getPath()));
        return new Lease(files, clock, scheduler, period, driver, number, now);
    }

    /** Who holds it, as manifests record it. */
    Driver driver() {
        return driver;
    }

    /**
     * Makes sure that the lease is still held.
     *
     * @throws InvalidRunException when another driver took it over or the heartbeat could not be written for too long
     */
    void check() {
        if (!isHeld()) {
            throw new InvalidRunException("Cannot write to the run " + files.root()
                    + ": another driver took it over, because this one gave no sign of life; stop this one");
        }
        if (clock.millis() - lastHeartbeat > PERIODS_TO_LIVE * period.toMillis()) {
            beat();
        }
    }

    /** Writes a heartbeat. */
    synchronized void beat() {
        if (!closed && isHeld()) {
            long now = clock.millis();
            files.replace(file(files, number), Json.pretty(new Content(driver, now, period.toMillis(), false)));
            lastHeartbeat = now;
        }
    }

    /** Gives the lease back, so that the next driver need not wait. */
    @Override
    public synchronized void close() {
        closed = true;
        heartbeats.cancel(false);
        if (isHeld()) {
            files.replace(
                    file(files, number), Json.pretty(new Content(driver, clock.millis(), period.toMillis(), true)));
        }
    }

    private boolean isHeld() {
        return files.exists(file(files, number)) && !files.exists(file(files, number + 1));
    }

    private void beatIfPossible() {
        try {
            beat();
        } catch (RuntimeException e) {
            // A scheduled task that throws never runs again; check() finds out when the silence lasts too long.
            LOG.warn("Cannot write the heartbeat of {}", files.root(), e);
        }
    }

    private static void refuseIfHeld(RunFiles files, FileStatus latest, long now, Duration period) {
        Content content = read(files, latest, period);
        if (content.released()) {
            return;
        }
        long age = now - content.heartbeat();
        boolean dead = content.driver() != null && content.driver().isKnownToBeDead();
        if (!dead && age <= PERIODS_TO_LIVE * content.periodMillis()) {
            throw new InvalidRunException("Cannot start on the run " + files.root() + ": "
                    + (content.driver() == null ? "another driver" : content.driver())
                    + " is at work on it, last heartbeat "
                    + Instant.ofEpochMilli(content.heartbeat())
                    + "; stop it, or wait until its heartbeat is older than "
                    + PERIODS_TO_LIVE * content.periodMillis() / 1000 + " s, or choose another"
                    + " trainer.default_local_dir");
        }
    }

    private static Content read(RunFiles files, FileStatus lease, Duration period) {
        String text = files.text(lease.getPath()).orElse("");
        try {
            return Json.MAPPER.readValue(text, Content.class);
        } catch (JsonProcessingException e) {
            // Some file systems show a heartbeat that is being replaced as an empty file.
            return new Content(null, lease.getModificationTime(), period.toMillis(), false);
        }
    }

    private static List<FileStatus> leases(RunFiles files) {
        return files.list(files.path("lease")).stream()
                .filter(status -> status.getPath().getName().matches("\\d{6}\\.json"))
                .toList();
    }

    private static int numberOf(FileStatus lease) {
        return Integer.parseInt(lease.getPath().getName().substring(0, 6));
    }

    private static Path file(RunFiles files, int number) {
        return files.path("lease/%06d.json".formatted(number));
    }
}
