package io.bellows.udfs.reward;

import java.io.Serializable;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * 1 when the response's final answer is the number of a reference answer, else 0.
 *
 * <p>Reads {@code #### 42}, {@code \boxed{42}} and, where neither is there, the last number; thousands commas, signs,
 * decimals, currency and percent signs, a trailing period and exponents are understood, and numbers are compared by value
 * ({@code 18.0} equals {@code 18}). An answer line with two numbers, or with anything to be calculated, is wrong.
 *
 * @param place where the answer stands
 * @param tolerance numbers closer than or as close as this (absolute, at least 0) are the same
 */
public record NumberMatch(AnswerPlace place, BigDecimal tolerance) implements Serializable {

    /** A comparison with a tolerance that is at least 0. */
    public NumberMatch(AnswerPlace place, double tolerance) {
        this(place, BigDecimal.valueOf(tolerance));
    }

    /**
     * Scores a response.
     *
     * @param references the answers that are right
     * @return 1 or 0
     * @throws InvalidReferenceException if a reference answer is no number
     */
    public double score(String response, List<String> references) {
        List<BigDecimal> expected = new ArrayList<>();
        for (String reference : references) {
            expected.add(marked(reference, AnswerPlace.AUTO)
                    .flatMap(NumberText::whole)
                    .orElseThrow(() -> new InvalidReferenceException("Invalid ground truth '" + shortened(reference)
                            + "': number_match needs a number; use exact_match for other answers")));
        }
        Optional<BigDecimal> answer = answer(response);
        return answer.isPresent() && expected.stream().anyMatch(number -> same(number, answer.get())) ? 1 : 0;
    }

    private boolean same(BigDecimal a, BigDecimal b) {
        return a.compareTo(b) == 0
                || (tolerance.signum() > 0 && a.subtract(b).abs().compareTo(tolerance) <= 0);
    }

    private Optional<BigDecimal> answer(String response) {
        boolean free = place == AnswerPlace.LAST
                || (place == AnswerPlace.AUTO
                        && !response.contains(AnswerText.HASH)
                        && !response.contains(AnswerText.BOXED));
        return free ? NumberText.last(response) : marked(response, place).flatMap(NumberText::whole);
    }

    private static Optional<String> marked(String text, AnswerPlace place) {
        return place.find(text).map(AnswerText::withoutLatexSpacing);
    }

    private static String shortened(String text) {
        return text.length() <= 80 ? text : text.substring(0, 77) + "...";
    }
}
