package io.bellows.model;

/** What a decoder gives for each position. */
public enum Head {
    /** Logits over the vocabulary: the head of a policy. */
    TOKENS,
    /**
     * One number: the head of a critic, under Hugging Face's names for token classification with one label. A folder without
     * one gets a head of zeros, so that a fresh critic predicts 0 and the first advantages carry no noise of a random head.
     */
    VALUE,
    /**
     * One number for a sequence, read at its last token: the head of a reward model, under Hugging Face's names for sequence
     * classification with one label. A folder must bring it; only its bias, which few have, may be absent.
     */
    SCORE
}
