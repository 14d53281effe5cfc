package io.bellows.engine;

import ai.djl.pytorch.jni.JniUtils;
import io.bellows.model.Kernels;
import io.bellows.model.Weights;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/**
 * Generates tokens with continuous batching: requests join and leave between steps, and the samples of a request share
 * one reading of its prompt. One thread of the engine's own runs all steps.
 *
 * <p>A sample draws with a generator of its own, seeded by the request, one number for each token. So it does not depend
 * on what runs beside it, except where a draw falls within float noise of a boundary; log-probs agree to 1e-5. With
 * {@link Admission#ORDERED} a batch is bit-exact.
 *
 * <p>Futures are completed on the engine's thread: what depends on them must be short, or run elsewhere
 * ({@code thenApplyAsync}). Safe for several threads.
 */
public final class InferenceEngine implements AutoCloseable {

    private final EngineSettings settings;
    private final int vocabularySize;
    private final Supplier<? extends IntFunction<String>> textDecoders;
    private final StepModel model;
    private final Scheduler scheduler;
    private final Thread thread;

    private final ReentrantLock stepLock = new ReentrantLock(true); // fair: a trainer must get between two steps
    private final ReentrantLock inboxLock = new ReentrantLock();
    private final Condition arrived = inboxLock.newCondition();
    private final Deque<List<PromptGroup>> inbox = new ArrayDeque<>();
    private boolean abortRequested;
    private boolean closing;
    private IllegalStateException stopped;

    private volatile long weightsVersion;
    private volatile EngineStats stats = new EngineStats(0, 0, 0, 0, 0);

    /**
     * Starts an engine for requests without stop strings.
     *
     * @param kernels the compiled decoder source
     * @param weights the weights, used in place (see {@link #exclusively}); to be closed after the engine
     * @param settings its size
     * @throws IllegalArgumentException if a slot is longer than the model's positions
     */
    public InferenceEngine(Kernels kernels, Weights weights, EngineSettings settings) {
        this(kernels, weights, settings, null);
    }

    /**
     * Starts an engine.
     *
     * @param kernels the compiled decoder source
     * @param weights the weights, used in place (see {@link #exclusively}); to be closed after the engine
     * @param settings its size
     * @param textDecoders makes, for one sample, what turns each token in turn into the text that it completes, such as
     *     {@code () -> new StreamingDecoder(tokenizer, SpecialTokens.KEEP)::push}; stop strings need it
     * @throws IllegalArgumentException if a slot is longer than the model's positions
     */
    public InferenceEngine(
            Kernels kernels,
            Weights weights,
            EngineSettings settings,
            Supplier<? extends IntFunction<String>> textDecoders) {
        this(slotDecoder(kernels, weights, settings), weights.config().vocabularySize(), settings, textDecoders);
    }

    InferenceEngine(
            StepModel model,
            int vocabularySize,
            EngineSettings settings,
            Supplier<? extends IntFunction<String>> textDecoders) {
        this.model = model;
        this.vocabularySize = vocabularySize;
        this.settings = settings;
        this.textDecoders = textDecoders;
        this.scheduler = new Scheduler(model, settings, () -> weightsVersion);
        this.thread = new Thread(this::run, "bellows-engine");
        thread.setDaemon(true);
        thread.start();
    }

    private static StepModel slotDecoder(Kernels kernels, Weights weights, EngineSettings settings) {
        if (settings.maxLength() > weights.config().maxPositions()) {
            throw new IllegalArgumentException("Invalid engine length " + settings.maxLength()
                    + ": the model's max_position_embeddings is "
                    + weights.config().maxPositions());
        }
        return new SlotDecoder(kernels, weights, settings);
    }

    // ---- requests
    // ----------------------------------------------------------------------------------------------------

    /**
     * Asks for the samples of one prompt.
     *
     * @param request the request
     * @return one future for each seed, in order. It fails with a {@link GenerationException} if this sample cannot be
     *     completed, with an {@link IllegalStateException} if the engine is closed or its thread died. Cancelling it drops
     *     the sample.
     * @throws IllegalArgumentException if the request can never fit; the text holds the numbers
     */
    public List<CompletableFuture<Generation>> submit(GenerationRequest request) {
        return submitAll(List.of(request)).get(0);
    }

    /**
     * Asks for the samples of one prompt and watches their tokens.
     *
     * @param request the request
     * @param listener sees each token before the future of its sample is completed
     * @return as {@link #submit(GenerationRequest)}
     * @throws IllegalArgumentException if the request can never fit; the text holds the numbers
     */
    public List<CompletableFuture<Generation>> submit(GenerationRequest request, TokenListener listener) {
        return submitAll(List.of(request), listener).get(0);
    }

    /**
     * Asks for several requests as one ordered batch, which {@link Admission#ORDERED} never mixes with another.
     *
     * @param requests the requests
     * @return the futures of each request, as {@link #submit} gives them
     * @throws IllegalArgumentException if a request can never fit; then none is taken
     */
    public List<List<CompletableFuture<Generation>>> submitAll(List<GenerationRequest> requests) {
        return submitAll(requests, (sample, id, logProb) -> {});
    }

    private List<List<CompletableFuture<Generation>>> submitAll(
            List<GenerationRequest> requests, TokenListener listener) {
        requests.forEach(this::check);
        List<PromptGroup> batch = requests.stream()
                .map(request -> new PromptGroup(request, () -> stopText(request.sampling()), listener))
                .toList();
        inboxLock.lock();
        try {
            if (stopped == null) {
                inbox.add(batch);
                arrived.signal();
            } else {
                batch.forEach(group -> fail(group, stopped));
            }
        } finally {
            inboxLock.unlock();
        }
        return batch.stream().map(InferenceEngine::futures).toList();
    }

    private static List<CompletableFuture<Generation>> futures(PromptGroup group) {
        return group.samples().stream()
                .<CompletableFuture<Generation>>map(Sample::future)
                .toList();
    }

    private void check(GenerationRequest request) {
        int prompt = request.promptIds().length;
        int response = request.sampling().maxTokens();
        if ((long) prompt + response > settings.maxLength()) {
            throw new IllegalArgumentException("Cannot fit a prompt of " + prompt + " tokens and a response of "
                    + response + ": together " + ((long) prompt + response) + ", but a slot of this engine holds "
                    + settings.maxLength() + ". Shorten the prompt or lower max_tokens.");
        }
        for (int i = 0; i < prompt; i++) {
            int id = request.promptIds()[i];
            if (id < 0 || id >= vocabularySize) {
                throw new IllegalArgumentException("Invalid token " + id + " at position " + i
                        + " of a prompt: the model's vocabulary is 0 to " + (vocabularySize - 1));
            }
        }
        if (!request.sampling().stop().isEmpty() && textDecoders == null) {
            throw new IllegalArgumentException("Unsupported stop strings "
                    + request.sampling().stop() + ": this engine has no text decoder; use stop ids");
        }
    }

    private StopText stopText(SamplingParams sampling) {
        return sampling.stop().isEmpty() ? null : new StopText(sampling.stop(), textDecoders.get());
    }

    /**
     * Ends a generation after the current step. Its future gets the tokens so far and {@link FinishReason#ABORTED}; to
     * drop them too, cancel the future.
     *
     * @param generation a future that this engine returned
     * @throws IllegalArgumentException if it is another future
     */
    public void abort(CompletableFuture<Generation> generation) {
        if (!(generation instanceof GenerationFuture future)) {
            throw new IllegalArgumentException(
                    "Cannot abort a future derived from a generation: pass the one that submit returned");
        }
        future.requestAbort();
        inboxLock.lock();
        try {
            abortRequested = true;
            arrived.signal();
        } finally {
            inboxLock.unlock();
        }
    }

    // ---- weights
    // -----------------------------------------------------------------------------------------------------

    /**
     * Runs an action while no step is running, such as an update of the weights. Generations in flight go on afterwards
     * with the keys and values they have.
     *
     * @param action the action
     * @param <T> its result
     * @return its result
     * @throws Exception whatever the action throws
     */
    public <T> T exclusively(Callable<T> action) throws Exception {
        stepLock.lock();
        try {
            return action.call();
        } finally {
            stepLock.unlock();
        }
    }

    /**
     * States the version of the weights; generations record the one their prompt was read with.
     *
     * @param version the version
     */
    public void weightsVersion(long version) {
        weightsVersion = version;
    }

    /**
     * Returns the version of the weights.
     *
     * @return what was stated last, at first 0
     */
    public long weightsVersion() {
        return weightsVersion;
    }

    /**
     * Returns whether the engine takes requests.
     *
     * @return false once it is closed or its thread died
     */
    public boolean isRunning() {
        inboxLock.lock();
        try {
            return stopped == null && !closing;
        } finally {
            inboxLock.unlock();
        }
    }

    /**
     * Returns what the engine has done.
     *
     * @return the counts after the last step
     */
    public EngineStats stats() {
        return stats;
    }

    // ---- the engine's thread
    // -----------------------------------------------------------------------------------------

    private void run() {
        IllegalStateException cause = new IllegalStateException("Cannot generate: the engine is closed");
        try {
            JniUtils.setGradMode(false); // libtorch switches it on for every new thread
            // Kept per thread: a script that libtorch rewrites after some calls gives other bits after a restart.
            JniUtils.setGraphExecutorOptimize(settings.admission() != Admission.ORDERED);
            while (awaitWork()) {
                step();
            }
        } catch (Throwable t) {
            cause = new IllegalStateException("Cannot generate: the engine's thread died of " + t, t);
        } finally {
            stop(cause);
        }
    }

    /** Takes in what arrived, waiting for it if there is nothing to do; false once the engine is closing. */
    private boolean awaitWork() throws InterruptedException {
        inboxLock.lock();
        try {
            while (!closing && !abortRequested && inbox.isEmpty() && scheduler.isIdle()) {
                arrived.await();
            }
            inbox.forEach(scheduler::add);
            inbox.clear();
            if (abortRequested) {
                abortRequested = false;
                scheduler.endAbortedWaiting();
            }
            return !closing;
        } finally {
            inboxLock.unlock();
        }
    }

    private void step() {
        stepLock.lock();
        try {
            scheduler.step();
            stats = scheduler.stats();
        } finally {
            stepLock.unlock();
        }
        complete();
    }

    private void complete() {
        scheduler.takeCompletions().forEach(Runnable::run);
    }

    private void stop(IllegalStateException cause) {
        inboxLock.lock();
        try {
            stopped = cause;
            inbox.forEach(scheduler::add);
            inbox.clear();
        } finally {
            inboxLock.unlock();
        }
        scheduler.failAll(cause);
        stepLock.lock();
        try {
            model.close();
        } finally {
            stepLock.unlock();
            complete();
        }
    }

    private static void fail(PromptGroup group, Throwable cause) {
        group.samples().forEach(sample -> sample.future().completeExceptionally(cause));
    }

    /** Stops after the current step. Whatever has not ended fails. */
    @Override
    public void close() {
        inboxLock.lock();
        try {
            closing = true;
            arrived.signal();
        } finally {
            inboxLock.unlock();
        }
        boolean interrupted = false;
        while (thread.isAlive() && Thread.currentThread() != thread) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true; // memory of the weights may be freed only after the last step
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
