package io.bellows.udfs.reward;

import java.io.Serializable;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * 1 when the answer is, character for character, one of the reference answers, else 0. Space at both ends does not
 * count, runs of white space count as one space.
 *
 * @param place where the answer stands
 * @param letterCase whether capitals matter
 */
public record ExactMatch(AnswerPlace place, LetterCase letterCase) implements Serializable {

    /** Whether capitals matter. */
    public enum LetterCase {
        /** They do. */
        KEEP,
        /** They do not. */
        IGNORE
    }

    /**
     * Scores a response.
     *
     * @param references the answers that are right
     * @return 1 or 0
     */
    public double score(String response, List<String> references) {
        Optional<String> answer = place.find(response).map(this::normalized);
        boolean matches =
                answer.isPresent() && references.stream().map(this::normalized).anyMatch(answer.get()::equals);
        return matches ? 1 : 0;
    }

    private String normalized(String text) {
        String spaced = String.join(" ", text.strip().split("\\s+", -1));
        return letterCase == LetterCase.IGNORE ? spaced.toLowerCase(Locale.ROOT) : spaced;
    }
}
