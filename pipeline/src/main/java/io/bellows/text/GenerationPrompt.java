package io.bellows.text;

/** What follows the last message of a rendered conversation. */
public enum GenerationPrompt {
    /** Nothing: the conversation as it stands. */
    NONE,

    /** The opening of the assistant's next turn, so that the model answers ({@code add_generation_prompt}). */
    ADD,

    /** The last message stays open, so that the model goes on with it ({@code continue_final_message}). */
    CONTINUE_FINAL_MESSAGE
}
