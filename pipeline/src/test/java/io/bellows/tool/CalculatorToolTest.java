package io.bellows.tool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.time.Duration;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The shipped calculator: exact where it can be, and never longer or larger than allowed. */
class CalculatorToolTest {

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    123*456 | 56088
                    999 * 999 | 998001
                    12 * (3 + 4) | 84
                    100/4 | 25
                    10*10 | 100
                    1/3 | 0.333333333333333
                    2/3*3 | 2
                    0.1+0.2 | 0.3
                    1000000007/2 | 500000003.5
                    7 % 3 | 1
                    -2^2 | -4
                    2^(-1) | 0.5
                    2**10 | 1024
                    2^3^2 | 512
                    2^0.5 | 1.414213562373095
                    SQRT(2) | 1.414213562373095
                    FACT(10) | 3628800
                    ROUND(2.345, 2) | 2.35
                    MAX(3, 7, 5) | 7
                    ABS(-3) | 3
                    12345678901234567890*98765432109876543210 | 1219326311370217952237463801111263526900
                    10^99+1 | 1000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001
                    """)
    void expressionsHaveTheirValue(String expression, String value) {
        assertThat(compute(expression)).isEqualTo(value);
    }

    @Test
    void productsOfWholeNumbersAreExact() {
        RandomGenerator random = RandomGenerator.of("L64X128MixRandom");
        for (int i = 0; i < 200; i++) {
            int a = random.nextInt(1000);
            int b = random.nextInt(1000);
            assertThat(compute(a + "*" + b)).isEqualTo(String.valueOf(a * b));
        }
    }

    static String[] tooMuch() {
        return new String[] {
            "9^9^9",
            "9^9^9^9",
            "2^(10^50)",
            "0.5^9999",
            "(1.5^200)^100000",
            "1e999999999",
            "0e999999999",
            "FLOOR(1e999999999)",
            "1e999999999 % 7",
            "1e99*1e99",
            "FACT(99999999999)",
            "FACT(FACT(20))",
            "ROUND(1, 999999999)",
            "ROUND(1, -999999999)",
            "1" + "+1".repeat(100_000),
            "(".repeat(400) + "1" + ")".repeat(401),
        };
    }

    @ParameterizedTest
    @MethodSource("tooMuch")
    @Timeout(20)
    void whatIsTooLargeIsAnError(String expression) {
        assertThatThrownBy(() -> compute(expression))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Cannot compute ");
    }

    @Test
    @Timeout(20)
    void whatNestsDeeplyButShortlyHasItsValue() {
        assertThat(compute("-".repeat(498) + "1")).isEqualTo("1");
        assertThat(compute("(".repeat(249) + "1" + ")".repeat(249))).isEqualTo("1");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "3 +",
                "x + 1",
                "1/0",
                "7 % 0",
                "SQRT(-1)",
                "(-8)^0.5",
                "2^-1",
                "\"a\" + 1",
                "\"5\"",
                "1,234 * 5",
                "5!",
                "1 = 1",
                "RANDOM()",
                "IF(1, 2, 3)",
                "__import__('os')",
                "1 2",
                "FACT(-1)",
                "LOG(0)",
                "{}",
                "a[0]",
                "NULL",
            })
    void whatIsNoArithmeticIsAnErrorThatSaysSo(String expression) {
        assertThatThrownBy(() -> compute(expression))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Cannot compute " + expression);
    }

    @Test
    void theRegistryKnowsItByItsClass() {
        ToolRegistry tools = ToolRegistry.builder()
                .nativeTools("tools.yaml", "tools: [{class_name: io.bellows.tool.CalculatorTool}]")
                .build();

        try (ToolSession session = tools.open(null, null, String::length, Duration.ofMinutes(1))) {
            ToolResult result =
                    session.call(Tools.call("calculator", "{\"expression\": \"12*12\"}"), Duration.ofMinutes(1));
            assertThat(result.error()).isNull();
            assertThat(result.text()).isEqualTo("144");
        }
    }

    private static String compute(String expression) {
        return new CalculatorTool()
                .execute(JsonNodeFactory.instance.objectNode().put("expression", expression), Tools.NONE)
                .text();
    }
}
