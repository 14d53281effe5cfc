package io.bellows.env;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The threads that run the code of environments. A step that is not done by its deadline is interrupted; one that goes on all the same is
 * abandoned: its place is given to another, and the thread, a daemon, is left to itself. Too many of these stop the rollout.
 *
 * <p>A trajectory that waits for the model holds no thread. The threads are the platform's, on a JVM with virtual ones too: a step that
 * spins would keep a carrier of theirs for good.
 */
public final class Workers implements AutoCloseable {

    /** How long a step may take to notice its interruption. */
    static final Duration GRACE = Duration.ofSeconds(1);

    /** How a step went. */
    enum Ending {
        /** It returned. */
        DONE,
        /** Its deadline came before a thread was free. */
        NOT_BEGUN,
        /** It did not return and was left behind. */
        ABANDONED
    }

    private final int parallel;
    private final Duration grace;
    private final ScheduledThreadPoolExecutor clock;
    private final ExecutorService threads;
    private final Deque<Step> waiting = new ArrayDeque<>();
    private final Set<Step> begun = new HashSet<>();
    private final Set<ModelClient.Call> calls = new HashSet<>();
    private int running;
    private int abandoned;
    private boolean cancelled;

    /**
     * Workers without anything to do.
     *
     * @param parallel steps that run at once, at least 1
     */
    public Workers(int parallel) {
        this(parallel, GRACE);
    }

    Workers(int parallel, Duration grace) {
        this.parallel = parallel;
        this.grace = grace;
        ThreadFactory daemons = daemons();
        this.clock = new ScheduledThreadPoolExecutor(1, daemons);
        clock.setRemoveOnCancelPolicy(true);
        this.threads =
                new ThreadPoolExecutor(0, Integer.MAX_VALUE, 5, TimeUnit.SECONDS, new SynchronousQueue<>(), daemons);
    }

    private static ThreadFactory daemons() {
        AtomicInteger number = new AtomicInteger();
        return work -> {
            Thread thread = new Thread(work, "bellows-environment-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }

    /** A step on its way: waiting, running, or over. */
    private final class Step implements Runnable {
        private final Runnable work;
        private final CompletableFuture<Ending> ending = new CompletableFuture<>();
        private Thread thread;
        private boolean interrupted;
        private boolean over;
        private volatile ScheduledFuture<?> timer;

        Step(Runnable work) {
            this.work = work;
        }

        @Override
        public void run() {
            synchronized (this) {
                thread = Thread.currentThread();
                if (interrupted) {
                    thread.interrupt();
                }
            }
            try {
                work.run();
            } finally {
                boolean inTime;
                synchronized (this) {
                    inTime = !over;
                    over = true;
                    Thread.interrupted(); // an interruption was meant for this step, not for the thread's next one
                }
                if (inTime) {
                    end(Ending.DONE);
                } else {
                    returned();
                }
            }
        }

        /** Drops it if it has not begun, else interrupts it, and gives it up if that does not help. */
        void late() {
            if (unqueue(this)) {
                cancel(timer);
                ending.complete(Ending.NOT_BEGUN);
                return;
            }
            synchronized (this) {
                if (!over && !interrupted) {
                    interrupted = true;
                    if (thread != null) {
                        thread.interrupt();
                    }
                    cancel(timer);
                    timer = schedule(this::abandon, grace.toNanos());
                }
            }
        }

        private void abandon() {
            synchronized (this) {
                if (over) {
                    return;
                }
                over = true;
            }
            left();
            end(Ending.ABANDONED);
        }

        private void end(Ending how) {
            cancel(timer);
            release(this);
            ending.complete(how);
        }
    }

    /**
     * Runs a step of a trajectory.
     *
     * @param work must not throw
     * @param nanos time until it is interrupted; {@link Long#MAX_VALUE} for no limit
     * @return how it went
     */
    CompletableFuture<Ending> run(Runnable work, long nanos) {
        return isCancelled() ? CompletableFuture.completedFuture(Ending.NOT_BEGUN) : runAlways(work, nanos);
    }

    /** Runs a step also when trajectories are cancelled: what cleans up after them. Otherwise as {@link #run}. */
    CompletableFuture<Ending> runAlways(Runnable work, long nanos) {
        Step step = new Step(work);
        if (nanos <= 0) {
            return CompletableFuture.completedFuture(Ending.NOT_BEGUN);
        }
        if (nanos != Long.MAX_VALUE) {
            step.timer = schedule(step::late, nanos);
        }
        synchronized (this) {
            if (running >= parallel) {
                waiting.add(step);
                return step.ending;
            }
            running++;
            begun.add(step);
        }
        begin(step);
        return step.ending;
    }

    private void begin(Step step) {
        try {
            threads.execute(step);
        } catch (RejectedExecutionException e) {
            step.ending.complete(Ending.NOT_BEGUN); // closed
        }
    }

    private void release(Step over) {
        Step next;
        synchronized (this) {
            begun.remove(over);
            next = waiting.poll();
            if (next == null) {
                running--;
            } else {
                begun.add(next);
            }
        }
        if (next != null) {
            begin(next);
        }
    }

    private synchronized boolean unqueue(Step step) {
        return waiting.remove(step);
    }

    private synchronized void left() {
        abandoned++;
    }

    /** An abandoned step came back after all. */
    private synchronized void returned() {
        abandoned--;
    }

    /**
     * Waits for a turn of the model, which is aborted when its time is up.
     *
     * @param nanos time until then; {@link Long#MAX_VALUE} for no limit
     * @return the turn, or null where none came in time
     */
    @SuppressWarnings("FutureReturnValueIgnored") // failures go on to the future that is returned
    CompletableFuture<ModelTurn> await(ModelClient.Call call, long nanos) {
        CompletableFuture<ModelTurn> turn = new CompletableFuture<>();
        boolean tooLate;
        synchronized (this) {
            calls.add(call);
            tooLate = cancelled;
        }
        long time = tooLate ? 0 : nanos;
        boolean limited = time != Long.MAX_VALUE;
        ScheduledFuture<?> abort = limited ? schedule(call::abort, time) : null;
        ScheduledFuture<?> giveUp =
                limited ? schedule(() -> turn.complete(null), Math.max(0, time) + grace.toNanos()) : null;
        call.turn().whenComplete((answer, failure) -> {
            cancel(abort);
            cancel(giveUp);
            synchronized (this) {
                calls.remove(call);
            }
            if (failure == null) {
                turn.complete(answer);
            } else {
                turn.completeExceptionally(failure);
            }
        });
        return turn;
    }

    private ScheduledFuture<?> schedule(Runnable action, long nanos) {
        try {
            return clock.schedule(action, nanos, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            return null; // closed: nothing waits any more
        }
    }

    private static void cancel(ScheduledFuture<?> timer) {
        if (timer != null) {
            timer.cancel(false);
        }
    }

    /** Steps that were left behind and have not come back. */
    public synchronized int abandoned() {
        return abandoned;
    }

    /** Whether more steps were left behind than run at once: each keeps a thread. */
    public boolean isOverrun() {
        return abandoned() > parallel;
    }

    private synchronized boolean isCancelled() {
        return cancelled;
    }

    /** Ends all trajectories where they are; only what cleans up after them still begins. */
    public void cancel() {
        List<Step> steps;
        List<ModelClient.Call> open;
        synchronized (this) {
            cancelled = true;
            steps = new ArrayList<>(begun);
            steps.addAll(waiting);
            open = List.copyOf(calls);
        }
        open.forEach(ModelClient.Call::abort);
        steps.forEach(Step::late);
    }

    /** Interrupts what is left and begins nothing more. */
    @Override
    public void close() {
        cancel();
        threads.shutdownNow();
        clock.shutdownNow();
    }
}
