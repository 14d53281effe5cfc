package io.bellows.udfs.reward;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NumberMatchTest {

    private final NumberMatch auto = new NumberMatch(AnswerPlace.AUTO, 0);

    private static double score(NumberMatch match, String response, String truth) {
        return match.score(response, List.of(truth));
    }

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
        assertThat(score(auto, response.replace("\\n", "\n"), truth)).isEqualTo(1.0);
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
        assertThat(score(auto, response, truth)).isEqualTo(0.0);
    }

    @Test
    void aReferenceThatIsNoNumberIsRefused() {
        assertThatThrownBy(() -> score(auto, "#### 18", "north"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Invalid ground truth 'north'")
                .hasMessageContaining("exact_match");
    }

    @Test
    void looksOnlyWhereItIsTold() {
        String response = "\\boxed{1} #### 2 and 3";
        assertThat(score(new NumberMatch(AnswerPlace.BOXED, 0), response, "1")).isEqualTo(1.0);
        assertThat(score(new NumberMatch(AnswerPlace.LAST, 0), response, "3")).isEqualTo(1.0);
        assertThat(score(new NumberMatch(AnswerPlace.HASH, 0), "the answer is 3", "3"))
                .isEqualTo(0.0);
    }

    @Test
    void toleranceIsAbsolute() {
        NumberMatch near = new NumberMatch(AnswerPlace.AUTO, 0.01);
        assertThat(score(near, "#### 3.14", "3.15")).isEqualTo(1.0);
        assertThat(score(near, "#### 3.13", "3.15")).isEqualTo(0.0);
    }

    @Test
    void acceptsAnyAnswerOfAList() {
        assertThat(auto.score("#### 5", List.of("4", "5"))).isEqualTo(1.0);
    }

    @Test
    void hostileTextCostsLittle() {
        String digits = "9".repeat(1_000_000);
        Assertions.assertTimeoutPreemptively(Duration.ofSeconds(10), () -> {
            assertThat(score(auto, digits, "9")).isEqualTo(0.0);
            assertThat(score(auto, "1,".repeat(500_000), "9")).isEqualTo(0.0);
            assertThat(score(auto, "\\boxed{".repeat(100_000), "9")).isEqualTo(0.0);
            assertThat(score(auto, "#### 9e" + digits, "9")).isEqualTo(0.0);
            assertThat(score(new NumberMatch(AnswerPlace.AUTO, 1), "#### 9e999", "9e-999"))
                    .isEqualTo(0.0);
        });
    }
}
