package io.bellows.engine;

/** Why a generation ended. */
public enum FinishReason {
    /** A stop id was sampled, or a stop string was completed. */
    STOP,
    /** The maximum number of tokens was reached. */
    LENGTH,
    /** The caller asked for what there was so far. */
    ABORTED
}
