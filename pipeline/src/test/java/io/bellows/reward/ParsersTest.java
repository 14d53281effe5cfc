package io.bellows.reward;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bellows.reward.ThinkParser.Thoughts;
import io.bellows.text.Message;
import java.util.List;
import org.junit.jupiter.api.Test;

class ParsersTest {

    private static final XmlParser XML = new XmlParser(List.of("reasoning", "answer"), "answer");

    @Test
    void theAnswerFollowsTheLastThought() {
        ThinkParser parser = new ThinkParser(Thoughts.REQUIRED);
        assertThat(parser.parse("<think>a</think> b <think>c</think>\n d ")).hasValue("d");
        assertThat(parser.parse("a</think>b")).hasValue("b"); // the template wrote the opening tag
        assertThat(parser.parse("b")).isEmpty();
        assertThat(parser.parse("<think>a")).isEmpty();
        assertThat(parser.parse("<think>a</think>")).hasValue("");
    }

    @Test
    void withoutAThoughtTheWholeTextAnswersIfThoughtsAreOptional() {
        ThinkParser parser = new ThinkParser(Thoughts.OPTIONAL);
        assertThat(parser.parse(" b ")).hasValue("b");
        assertThat(parser.parse("<think>a</think>b")).hasValue("b");
        assertThat(parser.parse("<think>a")).isEmpty();
    }

    @Test
    void aFieldIsWhatStandsBetweenItsFirstTags() {
        assertThat(XML.parse("<answer>1</answer><answer>2</answer>")).hasValue("1");
        assertThat(XML.parse("<answer>\n 4 < 5 \n</answer>")).hasValue("4 < 5");
        assertThat(XML.parse("</answer><answer>1")).isEmpty();
        assertThat(XML.parse("1")).isEmpty();
        assertThat(XML.field("<reasoning>so</reasoning>", "reasoning")).hasValue("so");
        assertThatThrownBy(() -> XML.field("", "thought")).hasMessageStartingWith("Unsupported field 'thought'");
    }

    @Test
    void theFormatIsWholeOnlyWithEachFieldOnceInOrder() {
        assertThat(XML.format("<reasoning>a</reasoning>\n<answer>1</answer>\n")).isEqualTo(1);
        assertThat(XML.format("<answer>1</answer><reasoning>a</reasoning>")).isEqualTo(0.5);
        assertThat(XML.format("well <reasoning>a</reasoning><answer>1</answer>"))
                .isEqualTo(0.5);
        assertThat(XML.format("<reasoning>a</reasoning><answer>1</answer><answer>2</answer>"))
                .isEqualTo(0.5);
        assertThat(XML.format("<answer>1</answer>")).isEqualTo(0.25);
        assertThat(XML.format("1")).isZero();
    }

    @Test
    void fieldsThatCannotBeTagsAreRefused() {
        assertThatThrownBy(() -> new XmlParser(List.of("a b"), "a b")).hasMessageStartingWith("Invalid field 'a b'");
        assertThatThrownBy(() -> new XmlParser(List.of("a", "a"), "a")).hasMessageStartingWith("Invalid fields [a, a]");
        assertThatThrownBy(() -> new XmlParser(List.of("a"), "b")).hasMessageContaining("'b'");
    }

    @Test
    void theAnswerOfAConversationIsTheLastThatTheModelGave() {
        List<Message> completion = List.of(
                Message.of("assistant", "<answer>1</answer>"),
                Message.of("tool", "<answer>9</answer>"),
                Message.of("assistant", "thanks"),
                Message.of("user", "<answer>8</answer>"));
        assertThat(XML.parseAnswer(completion)).hasValue("1");
        assertThat(Parser.whole().parseAnswer(completion)).hasValue("thanks");
        assertThat(Parser.whole().parseAnswer(List.of())).isEmpty();
    }

    @Test
    void parsersCanFollowEachOther() {
        Parser both = XML.after(new ThinkParser(Thoughts.REQUIRED));
        assertThat(both.parse("<think><answer>1</answer></think><answer>2</answer>"))
                .hasValue("2");
        assertThat(both.parse("<answer>2</answer>")).isEmpty();
    }
}
