package io.bellows.engine;

import io.bellows.model.Kernels;
import io.bellows.model.Weights;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/** Generates tokens with continuous batching. */
public final class InferenceEngine implements AutoCloseable {

    public InferenceEngine(Kernels kernels, Weights weights, EngineSettings settings) {}

    public InferenceEngine(
            Kernels kernels,
            Weights weights,
            EngineSettings settings,
            Supplier<? extends IntFunction<String>> textDecoders) {}

    public List<CompletableFuture<Generation>> submit(GenerationRequest request) {
        return submitAll(List.of(request)).get(0);
    }

    public List<List<CompletableFuture<Generation>>> submitAll(List<GenerationRequest> requests) {
        if (!requests.isEmpty()) {
            throw new UnsupportedOperationException("Unsupported until the next push");
        }
        return List.of();
    }

    /** Ends a generation with what there is; cancelling the future drops it instead. */
    public void abort(CompletableFuture<Generation> generation) {}

    public <T> T exclusively(Callable<T> action) throws Exception {
        return action.call();
    }

    public void weightsVersion(long version) {}

    public long weightsVersion() {
        return 0;
    }

    public EngineStats stats() {
        return new EngineStats(0, 0, 0, 0, 0);
    }

    @Override
    public void close() {}
}
