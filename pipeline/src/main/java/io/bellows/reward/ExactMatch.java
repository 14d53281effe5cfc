package io.bellows.reward;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * 1 when the answer is, character for character, one of the reference answers, else 0. Space at both ends does not
 * count, runs of white space count as one space. Unscored without a response or a reference answer.
 */
final class ExactMatch implements RewardFunction {

    /** Whether capitals matter. */
    enum LetterCase {
        KEEP,
        IGNORE
    }

    private final AnswerPlace place;
    private final LetterCase letterCase;

    ExactMatch(AnswerPlace place, LetterCase letterCase) {
        this.place = place;
        this.letterCase = letterCase;
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
        Optional<String> answer = place.find(input.response()).map(this::normalized);
        boolean matches =
                answer.isPresent() && references.stream().map(this::normalized).anyMatch(answer.get()::equals);
        return RewardOutcome.of(matches ? 1 : 0);
    }

    private String normalized(String text) {
        String spaced = String.join(" ", text.strip().split("\\s+", -1));
        return letterCase == LetterCase.IGNORE ? spaced.toLowerCase(Locale.ROOT) : spaced;
    }
}
