package io.bellows.config;

/** What a configuration is loaded for; it decides which rules apply. */
public enum Purpose {
    /** Reinforcement learning: {@code bellows train} and its stages. */
    TRAIN,
    /** Supervised fine-tuning: {@code bellows sft}. */
    SFT,
    /** Evaluation of a model: {@code bellows eval}. */
    EVAL,
    /** Evaluation of a model behind servers: of {@code model.path} only the tokenizer and the chat template are read. */
    EVAL_OF_SERVERS;

    /** Whether it answers prompts and learns nothing. */
    public boolean evaluates() {
        return this == EVAL || this == EVAL_OF_SERVERS;
    }
}
