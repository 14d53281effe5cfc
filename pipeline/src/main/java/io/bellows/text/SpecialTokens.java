package io.bellows.text;

/** Whether decoded text shows special tokens such as {@code <|im_end|>}. */
public enum SpecialTokens {
    /** Special tokens leave no trace in the text. */
    SKIP,

    /** Special tokens appear under their names. */
    KEEP
}
