package io.bellows.udfs.reward;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MathMatchTest {

    private static boolean same(String answer, String reference) {
        return new MathMatch(AnswerPlace.AUTO).score("so \\boxed{" + answer + "}", List.of(reference)) == 1;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "0.5; \\frac{1}{2}",
                "\\dfrac12; 50/100",
                "1,234; 1234",
                "1{,}234; 1234.0",
                "$18; 18",
                "50\\%; 50",
                "3\\frac{1}{2}; 3.5",
                "-\\frac{3}{4}; -0.75",
                "2\\sqrt{3}; \\sqrt{12}",
                "\\sqrt[3]{27}; 3",
                "\\sqrt2; 2^{1/2}",
                "\\frac{\\sqrt{3}}{3}; 1/\\sqrt{3}",
                "2^{10}; 1024",
                "5!; 120",
                "\\frac{\\pi}{4}; \\pi/4",
                "90^\\circ; 90",
                "10 \\text{ cm}; 10",
                "5 \\text{ square meters}; 5",
                "(x+1)^2; x^2+2x+1",
                "2x(x-3); 2x^2 - 6x",
                "\\left( x+1 \\right)\\left(x-1\\right); x^2-1",
                "2a\\cdot b; 2ba",
                "x_1 + x_2; x_2+x_1",
                "\\sin^2; \\sin^2",
                "|x|; \\sqrt{x^2}",
                "x = 5; 5",
                "f(x) = 2x; 2x",
                "y = 2x + 1; 2x+1 = y",
                "(1, \\frac12); (1,0.5)",
                "[0, 1); [0,\\frac22)",
                "\\{1, 2\\}; \\{2,1\\}",
                "3, -3; -3,3",
                "(1,2),(3,4); (3,4), (1,2)",
                "\\text{East}; east",
                "(B); B",
                "-5 \\cdot 10^{-3}; -0.005",
            })
    void theSameAnswerWrittenInAnotherWayIsRight(String answer, String reference) {
        assertThat(same(answer, reference)).isTrue();
        assertThat(same(reference, answer)).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "0.333; \\frac13",
                "12345678901234567890; 12345678901234567891",
                "10x; 10",
                "10x; 10y",
                "x; \\sqrt{x^2}",
                "x^2+1; x^2+2",
                "(x+1)^2; x^2+1",
                "(1,2); (2,1)",
                "(0,1); [0,1]",
                "\\{1,1\\}; \\{1,2\\}",
                "1,2; 1,2,3",
                "x = 5; 6",
                "y = 2x; y = 3x",
                "east; seat",
                "B; A",
                "10 \\text{ cm}; 11",
                "1/0; 2/0",
                "\\text{no}; on",
            })
    void anotherAnswerIsWrong(String answer, String reference) {
        assertThat(same(answer, reference)).isFalse();
        assertThat(same(reference, answer)).isFalse();
    }

    @Test
    void theLastBoxCountsAndWithoutAnAnswerItIsWrong() {
        MathMatch boxed = new MathMatch(AnswerPlace.BOXED);
        assertThat(boxed.score("\\boxed{1} no, \\boxed{\\frac{4}{2}}", List.of("2")))
                .isEqualTo(1);
        assertThat(boxed.score("it is 2", List.of("2"))).isZero();
        assertThat(boxed.score("\\boxed{2", List.of("2"))).isZero();
        assertThat(boxed.score("\\boxed{}", List.of(""))).isZero();
        assertThat(new MathMatch(AnswerPlace.AUTO).score("#### 2", List.of("7", "we add. #### 2")))
                .isEqualTo(1);
    }

    /** Complaint 44: towers of powers hang checkers that compute them. */
    @Test
    void noTextIsExpensive() {
        assertThat(same("9^9^9^9", "1")).isFalse();
        assertThat(same("9^9^9^9", "9^9^9^9")).isTrue();
        assertThat(same("99999999999999!", "1")).isFalse();
        assertThat(same("(".repeat(400) + "1" + ")".repeat(400), "1")).isFalse();
        assertThat(same("\\sqrt".repeat(150) + "1", "1")).isFalse();
        assertThat(same("{".repeat(300) + ",".repeat(300) + "}".repeat(300), "1,2"))
                .isFalse();
        assertThat(same("1,".repeat(499) + "1", "1,".repeat(499) + "2")).isFalse();
        assertThat(same("1".repeat(2_000), "1".repeat(2_000))).isFalse();
        String nested = "\\{".repeat(8) + "1,2,".repeat(100) + "\\}".repeat(8);
        assertThat(same(nested, nested.replace("1,2", "2,1"))).isFalse();
    }
}
