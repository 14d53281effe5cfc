package io.bellows.udfs.reward;

import java.io.Serializable;
import java.util.List;
import java.util.Optional;

/**
 * 1 when the response's final answer means the same as a reference answer, as far as simple mathematics goes, else 0.
 *
 * <p>The same are: equal numbers ({@code 0.5}, {@code \frac12}, {@code 50/100}); expressions with equal values wherever they are
 * compared ({@code (x+1)^2}, {@code x^2+2x+1}); tuples and intervals of the same elements in the same order; sets and bare lists of the same elements
 * in any order; equations of the same sides; the same words, which are two letters or more and nothing else. LaTeX is read as it is commonly
 * written. {@code x = 5} answers {@code 5}.
 *
 * <p>Expressions are compared at fixed points, so that two different ones agree with a probability that is small and not zero. An answer longer than {@value
 * #LONGEST} characters is wrong. Nothing is computed but with doubles, so no text is expensive.
 *
 * @param place where the answer stands
 */
public record MathMatch(AnswerPlace place) implements Serializable {

    private static final int LONGEST = 1_000;

    /**
     * Scores a response.
     *
     * @param references the answers that are right; each may be marked by {@code ####} or {@code \boxed{}}
     * @return 1 or 0
     */
    public double score(String response, List<String> references) {
        Optional<MathAnswer> answer = place.find(response).flatMap(MathMatch::read);
        if (answer.isEmpty()) {
            return 0;
        }
        return references.stream()
                        .map(reference -> AnswerPlace.AUTO.find(reference).flatMap(MathMatch::read))
                        .anyMatch(reference ->
                                reference.isPresent() && reference.get().isSameAs(answer.get()))
                ? 1
                : 0;
    }

    private static Optional<MathAnswer> read(String text) {
        return text.length() > LONGEST || text.isBlank() ? Optional.empty() : Optional.of(MathAnswer.of(text));
    }
}
