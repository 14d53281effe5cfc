package io.bellows.text.toolcall;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.text.Message;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What each format takes for a call, and what becomes of the rest. */
class ToolCallFormatTest {

    private static ParsedTurn parse(ToolCallFormat format, String text, TurnEnd end) {
        return format.parser(List.of(schema())).parse(text, end);
    }

    private static ParsedTurn parse(ToolCallFormat format, String text) {
        return parse(format, text, TurnEnd.COMPLETE);
    }

    private static ObjectNode schema() {
        try {
            return (ObjectNode) new JsonMapper().readTree("""
                    {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {
                      "x": {"type": "string"}, "n": {"type": "integer"}, "list": {"type": "array"},
                      "either": {"type": ["integer", "string"]}}}}}
                    """);
        } catch (java.io.IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A call of {@code f} with the text {@code x}, as each format writes it. */
    private static String call(ToolCallFormat format, String x) {
        String quoted =
                JsonMapper.builder().build().getNodeFactory().textNode(x).toString();
        return switch (format) {
            case HERMES -> "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": " + quoted + "}}\n</tool_call>";
            case QWEN3_CODER ->
                "<tool_call>\n<function=f>\n<parameter=x>\n" + x + "\n</parameter>\n</function>\n</tool_call>";
            case LLAMA3_JSON -> "{\"name\": \"f\", \"parameters\": {\"x\": " + quoted + "}}";
            case MISTRAL -> "[TOOL_CALLS][{\"name\": \"f\", \"arguments\": {\"x\": " + quoted + "}}]";
        };
    }

    private static String twoCalls(ToolCallFormat format) {
        return switch (format) {
            case HERMES, QWEN3_CODER -> call(format, "one") + "\n" + call(format, "two");
            case LLAMA3_JSON -> call(format, "one") + "; " + call(format, "two");
            case MISTRAL ->
                "[TOOL_CALLS][{\"name\": \"f\", \"arguments\": {\"x\": \"one\"}},"
                        + " {\"name\": \"f\", \"arguments\": {\"x\": \"two\"}}]";
        };
    }

    @ParameterizedTest
    @EnumSource
    void aCallIsRead(ToolCallFormat format) {
        ParsedTurn turn = parse(format, call(format, "a \"b\"\n\\c é 😀"));

        assertThat(turn.calls())
                .containsExactly(new ToolCall("call00000", "f", "{\"x\":\"a \\\"b\\\"\\n\\\\c é 😀\"}"));
        assertThat(turn.malformed()).isEmpty();
        assertThat(turn.content()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void twoCallsInATurnAreTwoCallsInOrder(ToolCallFormat format) {
        ParsedTurn turn = parse(format, twoCalls(format));

        assertThat(turn.calls())
                .containsExactly(
                        new ToolCall("call00000", "f", "{\"x\":\"one\"}"),
                        new ToolCall("call00001", "f", "{\"x\":\"two\"}"));
        assertThat(turn.content()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            value = {
                "HERMES, `a </tool_call> b <tool_call> c`",
                "QWEN3_CODER, `a </tool_call> b </parameter> c </function> d <parameter=y> e`",
                "LLAMA3_JSON, `a <|python_tag|> {}} ; b`",
                "MISTRAL, `a ]} [TOOL_CALLS] b`",
            })
    void argumentsMayContainTheClosingTag(ToolCallFormat format, String x) {
        ParsedTurn turn = parse(format, call(format, x));

        assertThat(turn.calls()).singleElement().extracting(ToolCall::arguments).isEqualTo("{\"x\":\"" + x + "\"}");
        assertThat(turn.malformed()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void aCallInsideAThinkBlockIsNoCall(ToolCallFormat format) {
        String thought = "<think>I could say " + call(format, "no") + "</think>";

        assertThat(parse(format, thought + "4").attemptsCalls()).isFalse();
        assertThat(parse(format, thought + "4").content()).isEqualTo(thought + "4");
        assertThat(parse(format, thought + "\n\n" + call(format, "yes")).calls())
                .containsExactly(new ToolCall("call00000", "f", "{\"x\":\"yes\"}"));
    }

    @ParameterizedTest
    @EnumSource
    void aThinkBlockThatThePromptOpenedHoldsNoCall(ToolCallFormat format) {
        ParsedTurn turn = parse(format, call(format, "no") + " Yes.</think>\n" + call(format, "yes"));

        assertThat(turn.calls()).containsExactly(new ToolCall("call00000", "f", "{\"x\":\"yes\"}"));
        assertThat(turn.malformed()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void aThinkBlockWithoutAnEndHoldsNoCall(ToolCallFormat format) {
        assertThat(parse(format, "<think>" + call(format, "no"), TurnEnd.CUT_OFF)
                        .attemptsCalls())
                .isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void thinkTagsInsideArgumentsAreText(ToolCallFormat format) {
        assertThat(parse(format, call(format, "</think> <think>")).calls())
                .containsExactly(new ToolCall("call00000", "f", "{\"x\":\"</think> <think>\"}"));
    }

    /** Cut anywhere behind what makes it a call, a turn has no call and one that is malformed, whose text stays in the content. */
    @ParameterizedTest
    @CsvSource({"HERMES, 11", "QWEN3_CODER, 11", "LLAMA3_JSON, 7", "MISTRAL, 12"})
    void aCallCutOffAtTheLimitIsMalformedWhereverItIsCut(ToolCallFormat format, int opening) {
        String whole = call(format, "some text");
        int last = switch (format) {
            case HERMES -> whole.indexOf("}}") + 2;
            case QWEN3_CODER -> whole.indexOf("</function>") + 11;
            case LLAMA3_JSON -> whole.length();
            case MISTRAL -> whole.length() - 1;
        };
        for (int length = opening; length < last; length++) {
            String cut = whole.substring(0, length);
            ParsedTurn turn = parse(format, cut, TurnEnd.CUT_OFF);

            assertThat(turn.calls()).as(cut).isEmpty();
            assertThat(turn.malformed()).as(cut).hasSize(1);
            assertThat(turn.malformed().get(0).text()).isEqualTo(cut);
            assertThat(turn.malformed().get(0).problem()).as(cut).contains("cut off");
            assertThat(turn.content()).isEqualTo(cut.strip());
        }
        assertThat(parse(format, whole.substring(0, last), TurnEnd.CUT_OFF).calls())
                .hasSize(1);
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            delimiter = '|',
            value = {
                "HERMES | `<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": \"1\"}</tool_call>` | invalid JSON",
                "HERMES | `<tool_call>f(1)</tool_call>` | JSON",
                "HERMES | `<tool_call>{\"arguments\": {}}</tool_call>` | no \"name\"",
                "HERMES | `<tool_call>{\"name\": 7, \"arguments\": {}}</tool_call>` | no \"name\"",
                "HERMES | `<tool_call>[1]</tool_call>` | expected a JSON object",
                "HERMES | `<tool_call>{\"name\": \"f\", \"name\": \"g\"}</tool_call>` | Duplicate",
                "HERMES | `<tool_call>{\"name\": \"f\"} and {\"name\": \"g\"}</tool_call>` | expected </tool_call>",
                "QWEN3_CODER | `<tool_call><function=f><parameter=x>1</function></tool_call>` | does not end",
                "QWEN3_CODER | `<tool_call>{\"name\": \"f\"}</tool_call>` | expected <function=",
                "QWEN3_CODER | `<tool_call><function=><parameter=x>1</parameter></function></tool_call>` | expected a name",
                "QWEN3_CODER | `<tool_call><function=f><parameter=x>1</parameter><parameter=x>2</parameter></function></tool_call>` | twice",
                "LLAMA3_JSON | `{\"name\": \"f\", \"parameters\": {\"x\": 1}` | not finished",
                "LLAMA3_JSON | `<|python_tag|>print(1)` | JSON",
                "MISTRAL | `[TOOL_CALLS]f(1)` | expected a JSON list",
                "MISTRAL | `[TOOL_CALLS][{\"name\": \"f\" \"arguments\": {}}]` | invalid JSON",
                "MISTRAL | `[TOOL_CALLS][{\"name\": \"\"}]` | no \"name\"",
            })
    void aMalformedCallIsReportedWithWhatIsWrong(ToolCallFormat format, String text, String problem) {
        ParsedTurn turn = parse(format, "So: " + text);
        if (format == ToolCallFormat.LLAMA3_JSON) {
            turn = parse(format, text);
        }

        assertThat(turn.calls()).isEmpty();
        assertThat(turn.malformed()).singleElement().satisfies(call -> {
            // The bracket that closes a list belongs to none of its calls.
            assertThat(text).isIn(call.text(), call.text() + "]");
            assertThat(call.problem()).contains(problem);
            assertThat(call.id()).isEqualTo("call00000");
        });
        assertThat(turn.content()).contains(text);
        assertThat(turn.attemptsCalls()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(names = {"HERMES", "QWEN3_CODER"})
    void aMalformedCallDoesNotTakeTheNextOneWithIt(ToolCallFormat format) {
        for (String broken : List.of("<tool_call>{\"name\": \"f", "<tool_call>{\"name\": \"f\"</tool_call>")) {
            ParsedTurn turn = parse(format, broken + call(format, "good"));

            assertThat(turn.malformed())
                    .singleElement()
                    .extracting(MalformedCall::text)
                    .isEqualTo(broken);
            assertThat(turn.calls()).containsExactly(new ToolCall("call00001", "f", "{\"x\":\"good\"}"));
        }
    }

    @Test
    void aBrokenCallInAMistralListCostsNoOther() {
        ParsedTurn turn = parse(
                ToolCallFormat.MISTRAL, "[TOOL_CALLS][{\"name\": \"f\"}, {\"arguments\": {}}, {\"name\": \"g\"}, {");

        assertThat(turn.calls()).extracting(ToolCall::name).containsExactly("f", "g");
        assertThat(turn.malformed()).extracting(MalformedCall::id).containsExactly("call00001", "call00003");
    }

    @Test
    void llama3AnswersThatAreOtherJsonAreNoCalls() {
        for (String answer : List.of("{\"answer\": 3}", "{\"name\": \"Ada\", \"age\": 36}", "{ and so on", "{}")) {
            ParsedTurn turn = parse(ToolCallFormat.LLAMA3_JSON, answer);
            assertThat(turn.attemptsCalls()).as(answer).isFalse();
            assertThat(turn.content()).isEqualTo(answer);
        }
    }

    @Test
    void llama3CallsMayStandBehindThePythonTag() {
        ParsedTurn turn = parse(
                ToolCallFormat.LLAMA3_JSON,
                "I look.<|python_tag|>{\"type\": \"function\", \"name\": \"f\", \"parameters\": {}};"
                        + " {\"name\": \"g\", \"arguments\": {\"a\": 1}}");

        assertThat(turn.calls()).extracting(ToolCall::name).containsExactly("f", "g");
        assertThat(turn.content()).isEqualTo("I look.");
    }

    @Test
    void qwen3CoderReadsValuesAsTheSchemaSays() {
        ParsedTurn turn = parse(ToolCallFormat.QWEN3_CODER, """
                <function=f>
                <parameter=x>
                12
                </parameter>
                <parameter=n>
                12
                </parameter>
                <parameter=list>
                [1, {"a": null}]
                </parameter>
                <parameter=either>
                7
                </parameter>
                <parameter=other>
                two
                lines
                </parameter>
                </function>""");

        assertThat(turn.calls())
                .singleElement()
                .extracting(ToolCall::arguments)
                .isEqualTo(
                        "{\"x\":\"12\",\"n\":12,\"list\":[1,{\"a\":null}],\"either\":\"7\",\"other\":\"two\\nlines\"}");
    }

    @Test
    void qwen3CoderLeavesAValueThatDoesNotFitToTheSchemaCheck() {
        assertThat(parse(
                                ToolCallFormat.QWEN3_CODER,
                                "<tool_call><function=f><parameter=n>__import__('os')</parameter></function></tool_call>")
                        .calls())
                .singleElement()
                .extracting(ToolCall::arguments)
                .isEqualTo("{\"n\":\"__import__('os')\"}");
    }

    @Test
    void argumentsAsATextOfJsonArePassedOnAsTheyAre() {
        assertThat(parse(
                                ToolCallFormat.HERMES,
                                "<tool_call>{\"name\": \"f\", \"arguments\": \"{\\\"x\\\": \"}</tool_call>")
                        .calls())
                .containsExactly(new ToolCall("call00000", "f", "{\"x\": "));
    }

    @Test
    void numbersOfArgumentsKeepEveryDigit() {
        assertThat(parse(
                                ToolCallFormat.HERMES,
                                "<tool_call>{\"name\": \"f\", \"arguments\": {\"n\": 12345678901234567890.10}}</tool_call>")
                        .calls())
                .containsExactly(new ToolCall("call00000", "f", "{\"n\":12345678901234567890.10}"));
    }

    @Test
    void contentIsWhatSurroundsTheCalls() {
        ParsedTurn turn =
                parse(ToolCallFormat.HERMES, "Let me see. " + call(ToolCallFormat.HERMES, "1") + " So be it.");

        assertThat(turn.content()).isEqualTo("Let me see.  So be it.");
    }

    @Test
    void callsAreNumberedThroughTheTrajectory() {
        ToolCallParser parser = ToolCallFormat.HERMES.parser(List.of());
        parser.parse(twoCalls(ToolCallFormat.HERMES), TurnEnd.COMPLETE);

        assertThat(parser.parse("<tool_call>", TurnEnd.COMPLETE).malformed())
                .extracting(MalformedCall::id)
                .containsExactly("call00002");
    }

    /** Twice the text takes about twice the steps: no turn of 200,000 characters may take long, however hostile. */
    @ParameterizedTest
    @EnumSource
    void hostileTurnsAreReadInLinearTime(ToolCallFormat format) {
        for (String unit : List.of(
                "<tool_call>",
                "<tool_call>{\"a",
                "<tool_call><function=f><parameter=x>",
                "<function=f><parameter=x></parameter>",
                "[TOOL_CALLS][",
                "[TOOL_CALLS][{\"name\":\"f",
                "<|python_tag|>{\"name\":",
                "{\"name\":[",
                "<think></think>",
                "</think>",
                "</parameter> ",
                " ")) {
            String text = unit.repeat(200_000 / unit.length());
            ParsedTurn turn = org.junit.jupiter.api.Assertions.assertTimeoutPreemptively(
                    java.time.Duration.ofSeconds(20), () -> parse(format, text, TurnEnd.CUT_OFF));
            assertThat(turn.calls().size() + turn.malformed().size())
                    .isLessThanOrEqualTo(ToolCallParser.MOST_CALLS + 1);
        }
    }

    @Test
    void anUnknownFormatIsRefusedByName() {
        assertThat(ToolCallFormat.named("qwen3_coder")).isEqualTo(ToolCallFormat.QWEN3_CODER);
        assertThatThrownBy(() -> ToolCallFormat.named("xml"))
                .hasMessage("Unsupported tool-call format 'xml': expected one of"
                        + " [hermes, qwen3_coder, llama3_json, mistral]");
    }

    @Test
    void callsThatAServerTookApartAreNumberedAsOurOwnAre() {
        String calls = """
                [{"id": "z", "function": {"name": "f", "arguments": "{\\"a\\": "}}, {"id": "b", "function": {"arguments": "{}"}},
                 {"id": "a", "function": {"name": "g", "arguments": {"b": 1}}}]""";

        ParsedTurn turn =
                ToolCallFormat.HERMES.parser(List.of()).number(new Message("assistant", " so ", calls, null, null));

        assertThat(turn.content()).isEqualTo("so");
        assertThat(turn.calls())
                .containsExactly(
                        new ToolCall("call00000", "f", "{\"a\": "), new ToolCall("call00002", "g", "{\"b\":1}"));
        assertThat(turn.malformed()).singleElement().satisfies(call -> {
            assertThat(call.id()).isEqualTo("call00001");
            assertThat(call.problem()).isEqualTo("a call without a name");
        });
    }
}
