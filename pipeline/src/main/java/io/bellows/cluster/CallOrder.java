package io.bellows.cluster;

import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Runs the calls of a group one after the other in the order in which they were made: two barrier stages at once would wait for each
 * other's executors.
 */
final class CallOrder {

    private CompletableFuture<?> last = CompletableFuture.completedFuture(null);

    /** Runs a call when those before it have ended, well or not. */
    synchronized <T> T now(Supplier<T> call) {
        last.join();
        return call.get();
    }

    /** The same in a thread of its own, which inherits what Spark knows of the caller's. */
    synchronized <T> CompletableFuture<T> later(String name, Supplier<T> call) {
        CompletableFuture<?> before = last;
        CompletableFuture<T> result = new CompletableFuture<>();
        CompletableFuture<Object> ended = new CompletableFuture<>(); // not the caller's, who may cancel that
        last = ended;
        Thread thread = new Thread(
                () -> {
                    before.join();
                    try {
                        result.complete(call.get());
                    } catch (RuntimeException | Error e) {
                        result.completeExceptionally(e);
                    } finally {
                        ended.complete(null);
                    }
                },
                name);
        thread.setDaemon(true);
        thread.start();
        return result;
    }
}
