package io.bellows.udfs.reward;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class ResponseScoresTest {

    @Test
    void exactMatchComparesTheAnswerWithoutOuterSpace() {
        ExactMatch exact = new ExactMatch(AnswerPlace.AUTO, ExactMatch.LetterCase.KEEP);
        assertThat(exact.score("  north  west\n", List.of("north west"))).isEqualTo(1.0);
        assertThat(exact.score("North west", List.of("north west"))).isEqualTo(0.0);
        assertThat(exact.score("I think #### north west", List.of("south", "north west")))
                .isEqualTo(1.0);
        assertThat(exact.score("so \\boxed{\\frac{1}{2}}", List.of("\\frac{1}{2}")))
                .isEqualTo(1.0);
        assertThat(exact.score("", List.of("north"))).isEqualTo(0.0);
    }

    @Test
    void exactMatchCanIgnoreCapitals() {
        ExactMatch exact = new ExactMatch(AnswerPlace.WHOLE, ExactMatch.LetterCase.IGNORE);
        assertThat(exact.score("North", List.of("north"))).isEqualTo(1.0);
    }

    @Test
    void formatMatchFindsOrCovers() {
        String pattern = "(?s)<think>.*</think>\\s*#### \\d+";
        String response = "<think>\nhm</think>\n#### 4 ok";
        assertThat(new FormatMatch(pattern, FormatMatch.Coverage.FIND).score(response))
                .isEqualTo(1.0);
        assertThat(new FormatMatch(pattern, FormatMatch.Coverage.FULL).score(response))
                .isEqualTo(0.0);
    }

    @Test
    void formatMatchIsLinearWhereBacktrackingIsNot() {
        FormatMatch format = new FormatMatch("(a*)*b", FormatMatch.Coverage.FULL);
        assertThat(format.score("a".repeat(50_000))).isEqualTo(0.0);
    }

    @Test
    void formatMatchRefusesWhatRe2CannotRead() {
        assertThatThrownBy(() -> new FormatMatch("(a)\\1", FormatMatch.Coverage.FIND))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Invalid pattern '(a)\\1'")
                .hasMessageContaining("no back references");
    }

    @Test
    void thePenaltyOfLengthFallsInAStraightLineToMinusOne() {
        LengthPenalty length = new LengthPenalty(100, 20);
        assertThat(length.score(0)).isEqualTo(0.0);
        assertThat(length.score(80)).isEqualTo(0.0);
        assertThat(length.score(85)).isEqualTo(-0.25);
        assertThat(length.score(100)).isEqualTo(-1.0);
        assertThat(length.score(1000)).isEqualTo(-1.0);
        assertThatThrownBy(() -> new LengthPenalty(10, 20))
                .hasMessage("Invalid buffer 20: it must be between 1 and max_length=10");
    }
}
