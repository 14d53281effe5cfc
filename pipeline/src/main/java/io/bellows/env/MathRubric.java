package io.bellows.env;

import io.bellows.reward.Parser;
import io.bellows.reward.ThinkParser;
import io.bellows.reward.UnscoredException;
import io.bellows.udfs.reward.AnswerPlace;
import io.bellows.udfs.reward.MathMatch;
import java.util.List;
import java.util.Optional;

/**
 * Rewards the answer that means the same as the reference answer, see {@link MathMatch}: a part of a {@link Rubric}. The answer stands in the last
 * {@code \boxed{}} behind any thought; without one it is wrong. Without a reference answer the trajectory is unscored.
 */
public final class MathRubric {

    private static final Parser BEHIND_THOUGHTS = new ThinkParser(ThinkParser.Thoughts.OPTIONAL);

    private final MathMatch match;
    private final Parser parser;

    /** Looks for a boxed answer behind any thought. */
    public MathRubric() {
        this(AnswerPlace.BOXED, BEHIND_THOUGHTS);
    }

    /**
     * Looks elsewhere.
     *
     * @param place where the answer stands in what the parser finds
     * @param parser finds the part of the model's last message that answers
     */
    public MathRubric(AnswerPlace place, Parser parser) {
        this.match = new MathMatch(place);
        this.parser = parser;
    }

    /** 1 for the right answer, else 0. */
    @Reward
    double correctAnswer(State state) {
        if (state.answer() == null) {
            throw new UnscoredException("no reference answer");
        }
        Optional<String> said =
                Optional.ofNullable(Rubric.response(state.completion())).flatMap(parser::parse);
        return said.isPresent() ? match.score(said.get(), List.of(state.answer())) : 0;
    }
}
