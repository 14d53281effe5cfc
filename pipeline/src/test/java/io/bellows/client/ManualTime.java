package io.bellows.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

/** A clock that stands still until a test moves it, and then runs what was waiting for that time. */
final class ManualTime implements ServerPool.Time {

    private record Waiting(long at, Runnable action, CompletableFuture<Void> handle) {}

    private final List<Waiting> waiting = new ArrayList<>();
    private long now;

    @Override
    public synchronized long nanos() {
        return now;
    }

    @Override
    public synchronized Future<?> after(long nanos, Runnable action) {
        Waiting one = new Waiting(now + nanos, action, new CompletableFuture<>());
        waiting.add(one);
        notifyAll();
        return one.handle();
    }

    @Override
    public void close() {}

    /** Waits until so many actions wait for their time. */
    synchronized void await(int actions) throws InterruptedException {
        while (waiting.stream().filter(one -> !one.handle().isDone()).count() < actions) {
            wait();
        }
    }

    void pass(Duration time) {
        List<Waiting> due;
        synchronized (this) {
            now += time.toNanos();
            due = waiting.stream()
                    .filter(one -> one.at() <= now && !one.handle().isDone())
                    .sorted(Comparator.comparingLong(Waiting::at))
                    .toList();
            waiting.removeAll(due);
        }
        due.forEach(one -> one.action().run());
    }
}
