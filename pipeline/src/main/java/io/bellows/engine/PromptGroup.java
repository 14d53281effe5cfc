package io.bellows.engine;

import ai.djl.ndarray.NDArray;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Supplier;

/** A request on its way: its prompt's state and the samples that wait for a slot. Only the engine thread touches it. */
final class PromptGroup {

    private final GenerationRequest request;
    private final int[] stopIds;
    private final TokenListener listener;
    private final List<Sample> samples = new ArrayList<>();
    private final Deque<Sample> waiting;
    private int slot = -1;
    private int read;
    private NDArray logits;
    private long weightsVersion;
    private long admittedNanos;

    /**
     * A request that waits.
     *
     * @param request the request
     * @param stopTexts makes the watcher of one sample's text; gives null if there are no stop strings
     * @param listener sees the tokens
     */
    PromptGroup(GenerationRequest request, Supplier<StopText> stopTexts, TokenListener listener) {
        this.request = request;
        this.listener = listener;
        this.stopIds = request.sampling().stopIds();
        for (long seed : request.seeds()) {
            samples.add(new Sample(this, samples.size(), seed, stopTexts.get()));
        }
        this.waiting = new ArrayDeque<>(samples);
    }

    GenerationRequest request() {
        return request;
    }

    List<Sample> samples() {
        return samples;
    }

    TokenListener listener() {
        return listener;
    }

    int[] stopIds() {
        return stopIds;
    }

    /** Samples that have no slot yet. */
    Deque<Sample> waiting() {
        return waiting;
    }

    int length() {
        return request.promptIds().length;
    }

    /** The slot that the prompt is read into, or -1. */
    int slot() {
        return slot;
    }

    void admit(int intoSlot, long version) {
        slot = intoSlot;
        weightsVersion = version;
        admittedNanos = System.nanoTime();
    }

    boolean isRead() {
        return read == length();
    }

    /** Starts over: no slot holds the prompt any more. */
    void forget() {
        slot = -1;
        read = 0;
        closeLogits();
    }

    /** Takes the next piece of at most {@code budget} tokens. */
    StepModel.Piece nextPiece(int budget) {
        int start = read;
        read = Math.min(length(), start + budget);
        return new StepModel.Piece(slot, request.promptIds(), start, read);
    }

    /** The logits after the prompt, which every sample draws its first token from. */
    NDArray logits() {
        return logits;
    }

    void logits(NDArray afterPrompt) {
        logits = afterPrompt;
    }

    void closeLogits() {
        if (logits != null) {
            logits.close();
            logits = null;
        }
    }

    long weightsVersion() {
        return weightsVersion;
    }

    long millisSinceAdmission() {
        return slot < 0 ? 0 : (System.nanoTime() - admittedNanos) / 1_000_000;
    }
}
