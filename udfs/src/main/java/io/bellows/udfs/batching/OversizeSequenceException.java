package io.bellows.udfs.batching;

/** A sequence alone is longer than a micro-batch may be. */
public final class OversizeSequenceException extends IllegalArgumentException {
    private final int sequence;

    OversizeSequenceException(int sequence, int length, int maxTokens) {
        super("Cannot fit sequence " + sequence + " of " + length + " tokens into a micro-batch of at most " + maxTokens
                + " tokens: raise the *_max_token_len_per_gpu that set this budget, or lower data.max_prompt_length or"
                + " data.max_response_length");
        this.sequence = sequence;
    }

    /** Index of the sequence in the lengths that were to be planned. */
    public int sequence() {
        return sequence;
    }
}
