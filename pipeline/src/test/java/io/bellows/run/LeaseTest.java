package io.bellows.run;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LeaseTest {

    private static final Duration PERIOD = Duration.ofSeconds(10);

    @TempDir
    Path folder;

    private final ManualTime time = new ManualTime();
    private RunFiles files;

    @BeforeEach
    void openFolder() {
        files = new RunFiles(folder.toString(), new Configuration());
    }

    @AfterEach
    void endScheduler() {
        time.scheduler().shutdownNow();
    }

    @Test
    void aFreshForeignLeaseIsRefusedNamingItsHolder() {
        acquire();
        time.pass(PERIOD.multipliedBy(3));

        assertThatExceptionOfType(InvalidRunException.class)
                .isThrownBy(this::acquire)
                .withMessageContaining("Cannot start on the run file:" + folder)
                .withMessageContaining("process " + ProcessHandle.current().pid())
                .withMessageContaining("last heartbeat 2026-01-01T00:00:00Z")
                .withMessageContaining("older than 30 s");
    }

    @Test
    void heartbeatsKeepALease() {
        Lease lease = acquire();
        for (int i = 0; i < 5; i++) {
            time.pass(PERIOD);
            time.scheduler().tick();
        }

        assertThatExceptionOfType(InvalidRunException.class).isThrownBy(this::acquire);
        assertThatCode(lease::check).doesNotThrowAnyException();
    }

    @Test
    void aLeaseOlderThanThreePeriodsIsTakenOverAndItsHolderNotices() {
        Lease former = acquire();
        time.pass(PERIOD.multipliedBy(3).plusMillis(1));

        Lease latter = acquire();

        assertThatExceptionOfType(InvalidRunException.class)
                .isThrownBy(former::check)
                .withMessageContaining("another driver took it over");
        former.beat();
        former.close();
        assertThatCode(latter::check).doesNotThrowAnyException();
        assertThatExceptionOfType(InvalidRunException.class).isThrownBy(this::acquire);
    }

    @Test
    void aReleasedLeaseIsTakenAtOnce() {
        acquire().close();

        assertThatCode(this::acquire).doesNotThrowAnyException();
    }

    @Test
    void aHeartbeatAfterTheReleaseDoesNotTakeItBack() {
        Lease lease = acquire();
        lease.close();
        lease.beat();

        assertThatCode(this::acquire).doesNotThrowAnyException();
    }

    @Test
    void theLeaseOfADeadProcessOfThisMachineIsTakenAtOnce() {
        Driver here = Driver.current("here");
        // This process id, started at another time: the process that had it is gone.
        Driver dead = new Driver("dead", here.host(), here.pid(), here.machine(), here.processStart() - 1, here.user());
        write(new Lease.Content(dead, time.millis(), PERIOD.toMillis(), false));

        assertThatCode(this::acquire).doesNotThrowAnyException();
    }

    @Test
    void aProcessOfAnotherMachineIsNotTakenForDead() {
        Driver here = Driver.current("here");
        Driver other = new Driver("other", "elsewhere", 1, "another boot", here.processStart(), "someone");
        write(new Lease.Content(other, time.millis(), PERIOD.toMillis(), false));

        assertThatExceptionOfType(InvalidRunException.class)
                .isThrownBy(this::acquire)
                .withMessageContaining("process 1 of someone on elsewhere");
    }

    @Test
    void aLeaseThatCannotBeReadYetCountsFromItsLastChange() {
        files.publish(files.path("lease/000001.json"), "");

        assertThatExceptionOfType(InvalidRunException.class)
                .isThrownBy(() -> Lease.acquire(files, Clock.systemUTC(), time.scheduler(), PERIOD))
                .withMessageContaining("another driver is at work");
    }

    private Lease acquire() {
        return Lease.acquire(files, time, time.scheduler(), PERIOD);
    }

    private void write(Lease.Content content) {
        files.publish(files.path("lease/000001.json"), Json.pretty(content));
    }
}
