package io.bellows.client;

import java.net.URI;
import java.time.Duration;

/** One server of a pool: how busy it is, and until when it is left alone. Guarded by the pool. */
final class Server {

    private static final Duration FIRST_PAUSE = Duration.ofMillis(500);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

    private final URI address;
    private int inFlight;
    private int failures;
    private long pausedUntil;

    Server(URI address, long now) {
        this.address = address;
        this.pausedUntil = now;
    }

    URI address() {
        return address;
    }

    int inFlight() {
        return inFlight;
    }

    void begin() {
        inFlight++;
    }

    void end() {
        inFlight--;
    }

    /** It answers. */
    void succeeded() {
        failures = 0;
    }

    /**
     * Leaves it alone for a while: for as long as it asked, else longer with every failure. Requests that fail together count as one.
     *
     * @param asked null where it did not say
     */
    void failed(long now, Duration asked) {
        boolean first = nanosPaused(now) <= 0;
        if (first) {
            failures++;
        }
        if (asked != null) {
            pausedUntil = now + Math.max(nanosPaused(now), asked.toNanos());
        } else if (first) {
            long doubled = FIRST_PAUSE.toNanos() << Math.min(failures - 1, 16);
            pausedUntil = now + Math.min(LONGEST_PAUSE.toNanos(), doubled);
        }
    }

    /** Time until it may be asked again; not above 0 where it may be now. */
    long nanosPaused(long now) {
        return pausedUntil - now;
    }
}
