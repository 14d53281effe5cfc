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

    /** Tokens kept before the new ones: some decoders treat the first token of a text differently. */
    private static final int CONTEXT = 4;

    private static final int MAX_WINDOW = 64;

    private final Tokenizer tokenizer;
    private final SpecialTokens specialTokens;
    private int[] window = new int[CONTEXT * 2];
    private int size;
    private int emitted; // characters of the window's text that were handed out

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
        if (broken == 0 || size > MAX_WINDOW) {
            forget();
        }
        return complete;
    }

    /** Ends the text: returns what was held back, broken as it may be. */
    public String flush() {
        String text = text();
        String rest = take(text, text.length());
        size = 0;
        emitted = 0;
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

    /** Drops all but the last tokens, so that a long text costs no more per token than a short one. */
    private void forget() {
        if (size <= CONTEXT) {
            return;
        }
        System.arraycopy(window, size - CONTEXT, window, 0, CONTEXT);
        size = CONTEXT;
        String text = text();
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
