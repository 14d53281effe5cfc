package io.bellows.reward;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NumberMatchTest {

    private final NumberMatch auto = new NumberMatch(AnswerPlace.AUTO, 0);

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "She makes 9*2.\\n#### 18        | 18",
                "#### 18.                        | 18",
                "####18                          | 18",
                "#### $18                        | 18",
                "#### **$1,234.50**              | 1234.5",
                "#### -1,234.50                  | -1,234.50",
                "#### -$5                        | -5",
                "#### $-5                        | -5",
                "#### \u22125                    | -5",
                "#### - 5                        | -5",
                "#### +5                         | 5",
                "#### 50%                        | 50",
                "#### 18 dollars                 | 18.0",
                "#### 1.2e3                      | 1200",
                "#### 1.2E+3                     | 1200",
                "#### .5                         | 0.5",
                "#### 007                        | 7",
                "#### 1 #### 2                   | 2",
                "so \\boxed{42}                  | 42",
                "so \\boxed{\\$1{,}234}          | 1234",
                "so \\boxed{50\\%} done          | 50",
                "so \\boxed{12\\text{ cm}}       | 12",
                "\\boxed{1} then $\\boxed{2}$    | 2",
                "the answer is 42.               | 42",
                "it is 1,000,000 in all          | 1000000",
                "a list 1,2,3                    | 3",
                "3-5                             | 5",
                "x = -5                          | -5",
                "(10)-5                          | 5",
                "it costs -$5                    | -5",
                "347+586=933                     | 933",
                "#### 42                         | #### 42",
                "#### 42                         | \\boxed{42}",
                "#### 1e2                        | 1E+2",
            })
    void acceptsTheSameNumberHoweverItIsWritten(String response, String truth) {
        assertThat(auto.score(RewardInput.of(response.replace("\\n", "\n"), truth))
                        .value())
                .isEqualTo(1.0);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "#### 19                         | 18",
                "18 is right #### 19             | 18",
                "#### none, but before: 18       | 18",
                "#### eighteen                   | 18",
                "18 ####                         | 18",
                "#### 18 or 19                   | 18",
                "#### 36/2                       | 18",
                "#### 9*2                        | 18",
                "#### 1,8                        | 18",
                "#### --18                       | 18",
                "\\boxed{18                      | 18",
                "\\boxed{\\frac{36}{2}}          | 18",
                "\\boxed{x=18} is 18             | 19",
                "#### -18                        | 18",
                "#### 0x12                       | 18",
                "#### 9e999999999                | 18",
                "#### 1e9999                     | 18",
                "#### NaN                        | 18",
                "no number                       | 18",
                "``                              | 18",
            })
    void givesZeroForAnythingElse(String response, String truth) {
        assertThat(auto.score(RewardInput.of(response, truth)).value()).isEqualTo(0.0);
    }

    @Test
    void leavesATrajectoryWithoutResponseOrReferenceUnscored() {
        assertThat(auto.score(RewardInput.of(null, "18")).status()).isEqualTo(RewardOutcome.Status.UNSCORED);
        assertThat(auto.score(RewardInput.of("#### 18", null)).status()).isEqualTo(RewardOutcome.Status.UNSCORED);
    }

    @Test
    void failsOnAReferenceThatIsNoNumber() {
        RewardOutcome outcome = auto.score(RewardInput.of("#### 18", "north"));
        assertThat(outcome.status()).isEqualTo(RewardOutcome.Status.FAILED);
        assertThat(outcome.reason()).contains("Invalid ground truth 'north'").contains("exact_match");
    }

    @Test
    void looksOnlyWhereItIsTold() {
        String response = "\\boxed{1} #### 2 and 3";
        assertThat(new NumberMatch(AnswerPlace.BOXED, 0)
                        .score(RewardInput.of(response, "1"))
                        .value())
                .isEqualTo(1.0);
        assertThat(new NumberMatch(AnswerPlace.LAST, 0)
                        .score(RewardInput.of(response, "3"))
                        .value())
                .isEqualTo(1.0);
        assertThat(new NumberMatch(AnswerPlace.HASH, 0)
                        .score(RewardInput.of("the answer is 3", "3"))
                        .value())
                .isEqualTo(0.0);
    }

    @Test
    void toleranceIsAbsolute() {
        NumberMatch near = new NumberMatch(AnswerPlace.AUTO, 0.01);
        assertThat(near.score(RewardInput.of("#### 3.14", "3.15")).value()).isEqualTo(1.0);
        assertThat(near.score(RewardInput.of("#### 3.13", "3.15")).value()).isEqualTo(0.0);
    }

    @Test
    void acceptsAnyAnswerOfAList() {
        ObjectNode extra = JsonNodeFactory.instance.objectNode();
        extra.putObject("ground_truth").putArray("target").add("4").add(5);
        RewardInput input = new RewardInput("qa", List.of(), List.of(), "#### 5", 3, "{\"target\":[\"4\",5]}", extra);
        assertThat(auto.score(input).value()).isEqualTo(1.0);
    }

    @Test
    void hostileTextCostsLittle() {
        String digits = "9".repeat(1_000_000);
        Assertions.assertTimeoutPreemptively(Duration.ofSeconds(10), () -> {
            assertThat(auto.score(RewardInput.of(digits, "9")).value()).isEqualTo(0.0);
            assertThat(auto.score(RewardInput.of("1,".repeat(500_000), "9")).value())
                    .isEqualTo(0.0);
            assertThat(auto.score(RewardInput.of("\\boxed{".repeat(100_000), "9"))
                            .value())
                    .isEqualTo(0.0);
            assertThat(auto.score(RewardInput.of("#### 9e" + digits, "9")).value())
                    .isEqualTo(0.0);
            assertThat(new NumberMatch(AnswerPlace.AUTO, 1)
                            .score(RewardInput.of("#### 9e999", "9e-999"))
                            .value())
                    .isEqualTo(0.0);
        });
    }
}
