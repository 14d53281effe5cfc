package io.bellows.model;

/** What a decoder gives for each position. */
public enum Head {
    /** Logits over the vocabulary: the head of a policy. */
    TOKENS,
    /**
     * One number: the head of a critic, under Hugging Face's names for token classification with one label. A folder without
     * one gets a head of zeros, so that a fresh critic predicts 0 and the first advantages carry no noise of a random head.
     */
    VALUE
}
