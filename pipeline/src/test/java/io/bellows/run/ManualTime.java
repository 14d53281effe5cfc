package io.bellows.run;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** A clock that tests move, and a scheduler that runs its tasks when they say so. */
final class ManualTime extends Clock {

    private Instant now = Instant.parse("2026-01-01T00:00:00Z");
    private final Scheduler scheduler = new Scheduler();

    Scheduler scheduler() {
        return scheduler;
    }

    void pass(Duration time) {
        now = now.plus(time);
    }

    @Override
    public Instant instant() {
        return now;
    }

    @Override
    public ZoneId getZone() {
        return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
        return this;
    }

    /** Never runs a task by itself. */
    static final class Scheduler extends ScheduledThreadPoolExecutor {

        private final List<Runnable> tasks = new ArrayList<>();

        private Scheduler() {
            super(0);
        }

        @Override
        public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, long delay, long period, TimeUnit unit) {
            tasks.add(task);
            // Only to have something that can be cancelled: a pool of no threads needs a day at least.
            return super.schedule(() -> {}, 1, TimeUnit.DAYS);
        }

        void tick() {
            tasks.forEach(Runnable::run);
        }
    }
}
