package io.bellows.udfs.reward;

import java.util.Optional;

/** Where in a response the final answer is looked for. */
public enum AnswerPlace {
    /** After the last {@code ####} if there is one, else in the last {@code \boxed{}}, else the whole text (numbers: the last one). */
    AUTO,
    /** After the last {@code ####} only, up to the end of its line. */
    HASH,
    /** In the last {@code \boxed{}} only. */
    BOXED,
    /** The last number of the text, whatever stands around it; for numbers only. */
    LAST,
    /** The whole text. */
    WHOLE;

    /** The text at this place; empty when the place is not there. */
    Optional<String> find(String text) {
        return switch (this) {
            case HASH -> AnswerText.afterHash(text);
            case BOXED -> AnswerText.boxed(text);
            case WHOLE, LAST -> Optional.of(text);
            case AUTO -> {
                if (text.contains(AnswerText.HASH)) {
                    yield AnswerText.afterHash(text);
                }
                yield text.contains(AnswerText.BOXED) ? AnswerText.boxed(text) : Optional.of(text);
            }
        };
    }
}
