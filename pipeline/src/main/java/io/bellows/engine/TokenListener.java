package io.bellows.engine;

/** Sees the tokens of a request while they are drawn. Called on the engine's thread, so it must be short and never wait. */
@FunctionalInterface
public interface TokenListener {

    /**
     * Takes a drawn token.
     *
     * @param sample index of the sample within its request, from 0
     * @param id the token; a stop id too
     * @param logProb its log-probability, as {@link Generation#logProbs} holds it
     */
    void accept(int sample, int id, float logProb);
}
