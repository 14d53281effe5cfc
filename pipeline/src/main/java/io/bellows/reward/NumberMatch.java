package io.bellows.reward;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * 1 when the response's final answer is the number of the reference answer, else 0.
 *
 * <p>Reads {@code #### 42}, {@code \boxed{42}} and, where neither is there, the last number; thousands commas, signs,
 * decimals, currency and percent signs, a trailing period and exponents are understood, and numbers are compared by value
 * ({@code 18.0} equals {@code 18}). An answer line with two numbers, or with anything to be calculated, is wrong.
 * Unscored without a response or a reference answer; failed when the reference answer is no number.
 */
final class NumberMatch implements RewardFunction {

    private final AnswerPlace place;
    private final BigDecimal tolerance;

    /** Numbers closer than or as close as {@code tolerance} (absolute, at least 0) are the same. */
    NumberMatch(AnswerPlace place, double tolerance) {
        this.place = place;
        this.tolerance = BigDecimal.valueOf(tolerance);
    }

    @Override
    public RewardOutcome score(RewardInput input) {
        List<String> references = ReferenceAnswers.of(input);
        if (references.isEmpty()) {
            return RewardOutcome.unscored("no ground truth");
        }
        if (input.response() == null) {
            return RewardOutcome.unscored("no response");
        }
        List<BigDecimal> expected = new ArrayList<>();
        for (String reference : references) {
            Optional<BigDecimal> number = marked(reference, AnswerPlace.AUTO).flatMap(NumberText::whole);
            if (number.isEmpty()) {
                return RewardOutcome.failed("Invalid ground truth '" + shortened(reference)
                        + "': number_match needs a number; use exact_match for other answers");
            }
            expected.add(number.get());
        }
        Optional<BigDecimal> answer = answer(input.response());
        boolean matches = answer.isPresent() && expected.stream().anyMatch(number -> same(number, answer.get()));
        return RewardOutcome.of(matches ? 1 : 0);
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
