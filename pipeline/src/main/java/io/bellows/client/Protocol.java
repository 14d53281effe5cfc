package io.bellows.client;

/** How servers are asked. */
public enum Protocol {
    /**
     * {@code /completions} with token ids in and out, and log-probs: what the model sampled stays as it was sampled. The server must know
     * {@code return_token_ids}, as vLLM and {@code bellows serve} do.
     */
    COMPLETIONS,
    /**
     * {@code /chat/completions} with messages in and out, the calls of tools taken apart by the server. It tells no ids: those of the turn
     * are what the local tokenizer makes of the text, so they are not marked as sampled, and have no log-probs.
     */
    CHAT
}
