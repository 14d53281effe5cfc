package io.bellows.reward;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.List;
import org.junit.jupiter.api.Test;

class RewardFunctionsTest {

    @Test
    void exactMatchComparesTheAnswerWithoutOuterSpace() {
        ExactMatch exact = new ExactMatch(AnswerPlace.AUTO, ExactMatch.LetterCase.KEEP);
        assertThat(exact.score(RewardInput.of("  north  west\n", "north west")).value())
                .isEqualTo(1.0);
        assertThat(exact.score(RewardInput.of("North west", "north west")).value())
                .isEqualTo(0.0);
        assertThat(exact.score(RewardInput.of("I think #### north west", "north west"))
                        .value())
                .isEqualTo(1.0);
        assertThat(exact.score(RewardInput.of("so \\boxed{\\frac{1}{2}}", "\\frac{1}{2}"))
                        .value())
                .isEqualTo(1.0);
        assertThat(exact.score(RewardInput.of("", "north")).value()).isEqualTo(0.0);
        assertThat(exact.score(RewardInput.of(null, "north")).value()).isNull();
    }

    @Test
    void exactMatchCanIgnoreCapitals() {
        ExactMatch exact = new ExactMatch(AnswerPlace.WHOLE, ExactMatch.LetterCase.IGNORE);
        assertThat(exact.score(RewardInput.of("North", "north")).value()).isEqualTo(1.0);
    }

    @Test
    void formatMatchFindsOrCovers() {
        String pattern = "(?s)<think>.*</think>\\s*#### \\d+";
        String response = "<think>\nhm</think>\n#### 4 ok";
        assertThat(new FormatMatch(pattern, FormatMatch.Coverage.FIND)
                        .score(RewardInput.of(response, null))
                        .value())
                .isEqualTo(1.0);
        assertThat(new FormatMatch(pattern, FormatMatch.Coverage.FULL)
                        .score(RewardInput.of(response, null))
                        .value())
                .isEqualTo(0.0);
    }

    @Test
    void formatMatchIsLinearWhereBacktrackingIsNot() {
        FormatMatch format = new FormatMatch("(a*)*b", FormatMatch.Coverage.FULL);
        assertThat(format.score(RewardInput.of("a".repeat(50_000), null)).value())
                .isEqualTo(0.0);
    }

    @Test
    void formatMatchRefusesWhatRe2CannotRead() {
        assertThatThrownBy(() -> new FormatMatch("(a)\\1", FormatMatch.Coverage.FIND))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Invalid pattern '(a)\\1'")
                .hasMessageContaining("no back references");
    }

    @Test
    void lengthRewardFallsInAStraightLineToMinusOne() {
        LengthReward length = new LengthReward(100, 20);
        assertThat(lengthValue(length, 0)).isEqualTo(0.0);
        assertThat(lengthValue(length, 80)).isEqualTo(0.0);
        assertThat(lengthValue(length, 85)).isEqualTo(-0.25);
        assertThat(lengthValue(length, 100)).isEqualTo(-1.0);
        assertThat(lengthValue(length, 1000)).isEqualTo(-1.0);
    }

    private static Double lengthValue(LengthReward length, int tokens) {
        return length.score(new RewardInput(
                        "d", List.of(), List.of(), "text", tokens, null, JsonNodeFactory.instance.objectNode()))
                .value();
    }
}
