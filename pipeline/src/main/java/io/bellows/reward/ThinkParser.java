package io.bellows.reward;

import java.util.Optional;

/**
 * What follows the last thought, {@code <think>…</think>}. A thought that is not finished has no answer behind it.
 *
 * @param thoughts whether there has to be one
 */
public record ThinkParser(Thoughts thoughts) implements Parser {

    private static final String OPEN = "<think>";
    private static final String CLOSE = "</think>";

    /** Whether a text has to hold a thought. */
    public enum Thoughts {
        /** Without a finished one there is no answer. */
        REQUIRED,
        /** Without any the whole text answers. */
        OPTIONAL
    }

    @Override
    public Optional<String> parse(String text) {
        int close = text.lastIndexOf(CLOSE);
        if (text.lastIndexOf(OPEN) > close) {
            return Optional.empty();
        }
        if (close < 0) {
            return thoughts == Thoughts.REQUIRED ? Optional.empty() : Optional.of(text.strip());
        }
        return Optional.of(text.substring(close + CLOSE.length()).strip());
    }
}
