package io.bellows.cluster;

import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.IntSupplier;

/**
 * Waits for executors. One that died is replaced within seconds or minutes, and a run need not end for that.
 *
 * @param patience longest wait
 * @param pause between two looks
 * @param message told once, when there is something to wait for
 */
record ExecutorWait(Duration patience, Pause pause, Consumer<String> message) {

    static final Duration BETWEEN_LOOKS = Duration.ofSeconds(1);

    /** Lets time pass. */
    @FunctionalInterface
    interface Pause {
        void pass(Duration time) throws InterruptedException;
    }

    /**
     * Waits until as many are there as are wanted, or patience ends.
     *
     * @param there counts them
     * @return how many there are in the end
     */
    int await(int wanted, IntSupplier there) {
        int executors = there.getAsInt();
        if (executors < wanted && patience.compareTo(BETWEEN_LOOKS) >= 0) {
            message.accept("waiting up to " + patience.toSeconds() + " s for executors: the update has " + wanted
                    + " ranks, and there are " + executors);
        }
        for (long looks = patience.dividedBy(BETWEEN_LOOKS); executors < wanted && looks > 0; looks--) {
            try {
                pause.pass(BETWEEN_LOOKS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(
                        "Cannot wait for " + wanted + " executors, there are " + executors + ": told to stop", e);
            }
            executors = there.getAsInt();
        }
        return executors;
    }
}
