package io.bellows.udfs.reward;

import java.util.Optional;

/** Finds the place of a response where its final answer stands. Linear in the length of the text. */
final class AnswerText {

    static final String HASH = "####";
    static final String BOXED = "\\boxed{";

    private AnswerText() {}

    /** The rest of the line after the last {@code ####}, trimmed; empty when there is no mark. */
    static Optional<String> afterHash(String text) {
        int mark = text.lastIndexOf(HASH);
        if (mark < 0) {
            return Optional.empty();
        }
        int from = mark + HASH.length();
        int end = text.indexOf('\n', from);
        return Optional.of(text.substring(from, end < 0 ? text.length() : end).strip());
    }

    /** What the last {@code \boxed{...}} holds, braces matched; empty when there is none or it is never closed. */
    static Optional<String> boxed(String text) {
        int mark = text.lastIndexOf(BOXED);
        if (mark < 0) {
            return Optional.empty();
        }
        int from = mark + BOXED.length();
        int depth = 1;
        for (int i = from; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\\') {
                i++;
            } else if (c == '{') {
                depth++;
            } else if (c == '}' && --depth == 0) {
                return Optional.of(text.substring(from, i).strip());
            }
        }
        return Optional.empty();
    }

    /** LaTeX spacing and escapes that stand inside numbers, taken away: {@code 1{,}234}, {@code \$5}, {@code 50\%}. */
    static String withoutLatexSpacing(String text) {
        return text.replace("{,}", ",")
                .replace("\\,", "")
                .replace("\\!", "")
                .replace("\\;", "")
                .replace("\\ ", " ")
                .replace("\\$", "$")
                .replace("\\%", "%");
    }
}
