package io.bellows.config;

/** What a configuration is loaded for; it decides which rules apply. */
public enum Purpose {
    /** Reinforcement learning: {@code bellows train} and its stages. */
    TRAIN,
    /** Supervised fine-tuning: {@code bellows sft}. */
    SFT,
    /** Evaluation of a model: {@code bellows eval}. */
    EVAL
}
