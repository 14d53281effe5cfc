package io.bellows.engine;

import ai.djl.ndarray.NDArray;
import io.bellows.engine.StepModel.Draws;
import io.bellows.engine.StepModel.Piece;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/**
 * Decides what each step runs: which prompts are read, which samples hold a slot. Requests are let in first come, first
 * served, lowest slot first, and nothing depends on time, so the same batch on an idle engine takes the same steps.
 *
 * <p>Only the engine thread touches it.
 */
final class Scheduler {

    private final StepModel model;
    private final EngineSettings settings;
    private final LongSupplier weightsVersion;
    private final Deque<List<PromptGroup>> batches = new ArrayDeque<>();
    private final Deque<PromptGroup> queue = new ArrayDeque<>();
    private final Sample[] active;
    private final PromptGroup[] holders; // whose prompt the slot's first positions hold, also after its sample ended
    private final List<Runnable> completions = new ArrayList<>();
    private long promptTokens;
    private long generatedTokens;
    private long steps;

    Scheduler(StepModel model, EngineSettings settings, LongSupplier weightsVersion) {
        this.model = model;
        this.settings = settings;
        this.weightsVersion = weightsVersion;
        this.active = new Sample[settings.slots()];
        this.holders = new PromptGroup[settings.slots()];
    }

    void add(List<PromptGroup> batch) {
        batches.add(batch);
    }

    boolean isIdle() {
        return batches.isEmpty() && queue.isEmpty() && rowCount() == 0;
    }

    /** Lets requests in, reads prompt tokens up to the chunk size, and draws one token for each active sample. */
    void step() {
        releaseEnded();
        nextBatches();
        admit();
        if (queue.isEmpty()) {
            closeGaps();
        }
        decode();
        steps++;
    }

    /** Returns what completes the futures of ended generations, to be run outside of any lock. */
    List<Runnable> takeCompletions() {
        List<Runnable> taken = List.copyOf(completions);
        completions.clear();
        return taken;
    }

    /** Ends samples that wait for a slot and were aborted; those with a slot are seen at every step. */
    void endAbortedWaiting() {
        batches.forEach(batch -> batch.forEach(this::dropEndedWaiting));
        queue.forEach(this::dropEndedWaiting);
    }

    /** Fails whatever has not ended. */
    void failAll(Throwable cause) {
        List<Sample> samples = new ArrayList<>();
        batches.forEach(batch -> batch.forEach(group -> samples.addAll(group.samples())));
        queue.forEach(group -> samples.addAll(group.samples()));
        for (Sample sample : active) {
            if (sample != null) {
                samples.add(sample);
            }
        }
        samples.forEach(sample -> completions.add(() -> sample.future().completeExceptionally(cause)));
        batches.clear();
        queue.clear();
    }

    EngineStats stats() {
        int running = 0;
        for (Sample sample : active) {
            running += sample == null ? 0 : 1;
        }
        int waiting = 0;
        for (PromptGroup group : queue) {
            waiting += group.waiting().size();
        }
        for (List<PromptGroup> batch : batches) {
            for (PromptGroup group : batch) {
                waiting += group.waiting().size();
            }
        }
        return new EngineStats(promptTokens, generatedTokens, steps, running, waiting);
    }

    private void releaseEnded() {
        for (int slot = 0; slot < active.length; slot++) {
            Sample sample = active[slot];
            if (sample != null && sample.future().isDone()) {
                active[slot] = null;
            } else if (sample != null && sample.future().isAbortRequested()) {
                end(sample, FinishReason.ABORTED);
                active[slot] = null;
            }
        }
    }

    private void nextBatches() {
        boolean ordered = settings.admission() == Admission.ORDERED;
        while (!batches.isEmpty() && (!ordered || (queue.isEmpty() && rowCount() == 0))) {
            queue.addAll(batches.poll());
        }
    }

    // ---- admission
    // ---------------------------------------------------------------------------------------------------

    private void admit() {
        List<Piece> pieces = new ArrayList<>();
        List<PromptGroup> read = new ArrayList<>();
        List<PromptGroup> complete = new ArrayList<>();
        Map<Integer, Sample> admitted = new TreeMap<>();
        List<Runnable> copies = new ArrayList<>();
        int budget = settings.prefillChunk();
        while (!queue.isEmpty()) {
            PromptGroup group = queue.peek();
            dropEndedWaiting(group);
            if (!group.waiting().isEmpty()) {
                if (group.isRead() && holder(group) < 0) {
                    group.forget();
                }
                if (!group.isRead()) {
                    if (budget == 0 || !hasSlot(group)) {
                        break;
                    }
                    Piece piece = group.nextPiece(budget);
                    pieces.add(piece);
                    budget -= piece.end() - piece.start();
                    if (!group.isRead()) {
                        break;
                    }
                    read.add(group);
                }
                place(group, admitted, copies);
                if (!group.waiting().isEmpty()) {
                    break;
                }
            }
            complete.add(queue.poll());
        }
        prefill(pieces, read);
        copies.forEach(Runnable::run);
        drawFirst(admitted);
        complete.forEach(this::leaveQueue);
    }

    /** Whether the group has a slot to read its prompt into, or takes one now. */
    private boolean hasSlot(PromptGroup group) {
        if (group.slot() < 0) {
            int slot = freeSlot(group);
            if (slot < 0) {
                return false;
            }
            group.admit(slot, weightsVersion.getAsLong());
            holders[slot] = group;
        }
        return true;
    }

    /** Gives free slots to the group's samples; the prompt is copied from a slot that holds it, once it is read. */
    private void place(PromptGroup group, Map<Integer, Sample> admitted, List<Runnable> copies) {
        int source = holder(group);
        List<Integer> targets = new ArrayList<>();
        while (!group.waiting().isEmpty()) {
            int slot = freeSlot(group);
            if (slot < 0) {
                break;
            }
            if (holders[slot] != group) {
                holders[slot] = group;
                targets.add(slot);
            }
            active[slot] = group.waiting().poll();
            admitted.put(slot, active[slot]);
        }
        if (!targets.isEmpty()) {
            int[] slots = targets.stream().mapToInt(Integer::intValue).toArray();
            copies.add(() -> model.copy(source, slots, group.length()));
        }
    }

    private void prefill(List<Piece> pieces, List<PromptGroup> read) {
        if (pieces.isEmpty()) {
            return;
        }
        List<NDArray> logits = model.prefill(pieces);
        for (int i = 0; i < read.size(); i++) {
            read.get(i).logits(logits.get(i));
        }
        promptTokens += pieces.stream().mapToLong(p -> p.end() - p.start()).sum();
    }

    private void drawFirst(Map<Integer, Sample> admitted) {
        if (admitted.isEmpty()) {
            return;
        }
        Rows rows = new Rows(admitted.size());
        List<NDArray> logits = new ArrayList<>();
        for (Sample sample : admitted.values()) {
            rows.set(logits.size(), sample);
            logits.add(sample.group().logits());
        }
        Draws draws = model.drawFirst(logits, rows);
        int row = 0;
        for (int slot : admitted.keySet()) {
            accept(slot, draws, row++);
        }
    }

    private void leaveQueue(PromptGroup group) {
        group.closeLogits();
        if (!group.isRead() && group.slot() >= 0) {
            holders[group.slot()] = null; // every sample was cancelled while its prompt was read
        }
    }

    private void dropEndedWaiting(PromptGroup group) {
        group.waiting().removeIf(sample -> {
            if (sample.future().isAbortRequested()) {
                end(sample, FinishReason.ABORTED);
            }
            return sample.future().isAbortRequested() || sample.future().isDone();
        });
    }

    // ---- slots
    // -------------------------------------------------------------------------------------------------------

    /** A free slot, best one that holds the group's prompt, or -1. */
    private int freeSlot(PromptGroup group) {
        int first = -1;
        for (int slot = 0; slot < active.length; slot++) {
            PromptGroup holder = holders[slot];
            if (active[slot] == null && holder == group) {
                return slot;
            }
            boolean reading = holder != null && holder.slot() == slot && !holder.isRead();
            if (first < 0 && active[slot] == null && !reading) {
                first = slot;
            }
        }
        return first;
    }

    private int holder(PromptGroup group) {
        for (int slot = 0; slot < holders.length; slot++) {
            if (holders[slot] == group) {
                return slot;
            }
        }
        return -1;
    }

    /** Slots in use are made the first ones, so that a step computes no rows in vain. */
    private void closeGaps() {
        int to = 0;
        for (int from = rowCount() - 1; from > to; from = rowCount() - 1) {
            while (to < from && active[to] != null) {
                to++;
            }
            if (to == from) {
                return;
            }
            model.copy(from, new int[] {to}, active[from].lastPosition());
            active[to] = active[from];
            holders[to] = holders[from];
            active[from] = null;
            holders[from] = null;
        }
    }

    /** Rows of a step: up to the last active slot. */
    private int rowCount() {
        int count = active.length;
        while (count > 0 && active[count - 1] == null) {
            count--;
        }
        return count;
    }

    // ---- decoding
    // ----------------------------------------------------------------------------------------------------

    private void decode() {
        int count = rowCount();
        if (count == 0) {
            return;
        }
        Rows rows = new Rows(count);
        for (int slot = 0; slot < count; slot++) {
            if (active[slot] != null) {
                rows.set(slot, active[slot]);
            }
        }
        Draws draws = model.decode(rows);
        for (int slot = 0; slot < count; slot++) {
            if (active[slot] != null) {
                accept(slot, draws, slot);
            }
        }
    }

    private void accept(int slot, Draws draws, int row) {
        Sample sample = active[slot];
        float logProb = draws.logProb(row);
        if (!Float.isFinite(logProb)) {
            fail(slot, notFinite(sample, logProb));
            model.clear(slot);
            holders[slot] = null;
            return;
        }
        generatedTokens++;
        try {
            FinishReason reason = sample.append(draws.id(row), logProb);
            if (reason != null) {
                end(sample, reason);
                active[slot] = null;
            }
        } catch (RuntimeException e) { // of the caller's text decoder or listener
            fail(slot, new GenerationException("Cannot decode token " + draws.id(row) + ", or hand it over: " + e, e));
        }
    }

    private static GenerationException notFinite(Sample sample, float logProb) {
        return new GenerationException("Cannot draw a token at position " + (sample.lastPosition() + 1)
                + ": the log-probability is " + logProb + ", so the logits are not finite under weights version "
                + sample.group().weightsVersion());
    }

    private void fail(int slot, GenerationException cause) {
        Sample sample = active[slot];
        completions.add(() -> sample.future().completeExceptionally(cause));
        active[slot] = null;
    }

    private void end(Sample sample, FinishReason reason) {
        Generation generation = sample.generation(reason);
        completions.add(() -> sample.future().complete(generation));
    }
}
