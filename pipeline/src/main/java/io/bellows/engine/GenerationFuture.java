package io.bellows.engine;

import java.util.concurrent.CompletableFuture;

/** A generation to come, which its caller can ask to end early. */
final class GenerationFuture extends CompletableFuture<Generation> {

    private volatile boolean abortRequested;

    void requestAbort() {
        abortRequested = true;
    }

    boolean isAbortRequested() {
        return abortRequested;
    }

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new CompletableFuture<>(); // what a caller derives from it is not a generation of the engine
    }
}
