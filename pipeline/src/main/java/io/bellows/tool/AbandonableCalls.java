package io.bellows.tool;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Runs work that may never end, each on a daemon thread of its own.
 *
 * <p>Past its limit the thread is interrupted, and after a short grace given up on. Such threads are counted until they end, and
 * when there are too many of them no work begins.
 */
final class AbandonableCalls {

    private static final Duration GRACE = Duration.ofMillis(200);

    private final int mostAbandoned;
    private int abandonedNow;
    private long abandonedTotal;

    AbandonableCalls(int mostAbandoned) {
        this.mostAbandoned = mostAbandoned;
    }

    /** How work ended. */
    sealed interface Outcome<T> {}

    /** It returned. */
    record Returned<T>(T value) implements Outcome<T> {}

    /** It threw; {@link Error}s too. */
    record Threw<T>(Throwable thrown) implements Outcome<T> {}

    /**
     * It was too slow, or its caller was interrupted.
     *
     * @param running what still goes on; null when it reacted to the interruption
     * @param callerInterrupted whether the caller, and not the limit, ended the wait
     */
    record Late<T>(Running<?> running, boolean callerInterrupted) implements Outcome<T> {}

    /** It did not begin, as too many others go on. */
    record Refused<T>() implements Outcome<T> {}

    /** Runs {@code work} for at most {@code limit}. An interrupt of the caller ends the wait and stays set. */
    <T> Outcome<T> run(String name, Callable<T> work, Duration limit) {
        return abandonedNow() >= mostAbandoned ? new Refused<>() : runAlways(name, work, limit);
    }

    /** As {@link #run}, however many others go on. */
    <T> Outcome<T> runAlways(String name, Callable<T> work, Duration limit) {
        Running<T> running = new Running<>(work);
        Thread thread = new Thread(running, "tool-" + name);
        thread.setDaemon(true);
        thread.start();
        boolean interrupted = false;
        try {
            if (running.ended.await(limit.toNanos(), TimeUnit.NANOSECONDS)) {
                return running.outcome;
            }
        } catch (InterruptedException e) {
            interrupted = true;
        }
        thread.interrupt();
        boolean ended = false;
        try {
            ended = running.ended.await(GRACE.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return new Late<>(ended || !running.abandon() ? null : running, interrupted);
    }

    synchronized int abandonedNow() {
        return abandonedNow;
    }

    synchronized long abandonedTotal() {
        return abandonedTotal;
    }

    private synchronized void countAbandoned() {
        abandonedNow++;
        abandonedTotal++;
    }

    private synchronized void countEnded() {
        abandonedNow--;
    }

    /** Work on its thread. */
    final class Running<T> implements Runnable {

        private final Callable<T> work;
        private final CountDownLatch ended = new CountDownLatch(1);
        private volatile Outcome<T> outcome;
        private boolean over;
        private boolean abandoned;
        private Runnable afterwards;

        private Running(Callable<T> work) {
            this.work = work;
        }

        @Override
        public void run() {
            try {
                outcome = new Returned<>(work.call());
            } catch (Throwable e) {
                // Whatever a tool throws is its answer; this thread ends here in any case.
                outcome = new Threw<>(e);
            }
            ended.countDown();
            Runnable last;
            synchronized (this) {
                over = true;
                last = afterwards;
            }
            if (last != null) {
                last.run();
            }
            if (wasAbandoned()) {
                countEnded();
            }
        }

        /** Whether it still goes on. */
        synchronized boolean goesOn() {
            return !over;
        }

        /** Runs {@code last} on the same thread when the work ends at last; false when it has ended. */
        synchronized boolean whenItEnds(Runnable last) {
            if (over) {
                return false;
            }
            afterwards = last;
            return true;
        }

        private synchronized boolean abandon() {
            if (over) {
                return false;
            }
            abandoned = true;
            countAbandoned();
            return true;
        }

        private synchronized boolean wasAbandoned() {
            return abandoned;
        }
    }
}
