package io.bellows.engine;

/**
 * The size of an engine.
 *
 * @param slots sequences decoded at once ({@code rollout.max_num_seqs}); each keeps its own keys and values
 * @param maxLength most tokens of prompt and response together in one slot
 * @param prefillChunk most prompt tokens taken in per step ({@code rollout.max_num_batched_tokens})
 * @param admission when requests are let in
 */
public record EngineSettings(int slots, int maxLength, int prefillChunk, Admission admission) {

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if a number is not positive
     */
    public EngineSettings {
        if (slots < 1 || maxLength < 1 || prefillChunk < 1) {
            throw new IllegalArgumentException("Invalid engine settings: slots " + slots + ", length " + maxLength
                    + " and prefill chunk " + prefillChunk + " must be at least 1");
        }
    }
}
