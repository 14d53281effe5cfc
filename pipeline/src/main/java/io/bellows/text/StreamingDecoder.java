package io.bellows.text;

import java.util.Arrays;

/**
 * Turns ids into text while they are sampled. A character whose bytes are spread over several tokens is held back until
 * it is complete, so a reader never sees a broken one; all pieces together are the text of all ids.
 *
 * <p>Not for use by several threads.
 */
public final class StreamingDecoder {

    private static final char BROKEN = '\uFFFD';

    /** A character has at most four bytes, hence at most three that wait for another token. */
    private static final int MAX_WAITING = 3;

    /** Tokens after which the window is cut at any rate: bytes that never make a character. */
    private static final int MAX_WINDOW = 64;

    private final Tokenizer tokenizer;
    private final SpecialTokens specialTokens;
    private int[] window = new int[8];
    private int size;
    private int emitted; // characters of the window's text that were handed out
    private int boundary; // tokens of the window up to the last point at which no character was open

    /** A decoder at the start of a text. */
    public StreamingDecoder(Tokenizer tokenizer, SpecialTokens specialTokens) {
        this.tokenizer = tokenizer;
        this.specialTokens = specialTokens;
    }

    /** Takes the next id and returns the text that became complete, often a word, sometimes nothing. */
    public String push(int id) {
        if (size == window.length) {
            window = Arrays.copyOf(window, 2 * size);
        }
        window[size++] = id;
        String text = text();
        int broken = brokenAtEnd(text);
        if (broken > 0 && size > MAX_WINDOW) {
            broken = Math.min(broken, MAX_WAITING);
        }
        String complete = take(text, text.length() - broken);
        if (broken == 0) {
            forgetBefore(boundary);
            boundary = size;
        } else if (size > MAX_WINDOW) {
            forgetBefore(size - MAX_WAITING - 1);
        }
        return complete;
    }

    /** Ends the text: returns what was held back, broken as it may be. */
    public String flush() {
        String text = text();
        String rest = take(text, text.length());
        size = 0;
        emitted = 0;
        boundary = 0;
        return rest;
    }

    private String take(String text, int end) {
        if (end <= emitted) {
            return "";
        }
        String piece = text.substring(emitted, end);
        emitted = end;
        return piece;
    }

    /**
     * Drops the tokens before {@code start}, so that a long text costs no more per token than a short one. What stays has
     * text of its own, since decoders treat the first of a text differently: they take off its leading blank.
     */
    private void forgetBefore(int start) {
        int[] kept = Arrays.copyOfRange(window, start, size);
        String text = start == 0 ? "" : tokenizer.decode(kept, specialTokens);
        if (text.isEmpty()) {
            return;
        }
        window = kept;
        size = kept.length;
        boundary = 0;
        emitted = text.length() - Math.min(brokenAtEnd(text), MAX_WAITING);
    }

    private String text() {
        return tokenizer.decode(Arrays.copyOf(window, size), specialTokens);
    }

    private static int brokenAtEnd(String text) {
        int count = 0;
        while (count < text.length() && text.charAt(text.length() - 1 - count) == BROKEN) {
            count++;
        }
        return count;
    }
}
