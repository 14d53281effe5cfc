package io.bellows.serving;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.engine.FinishReason;
import io.bellows.engine.Generation;
import io.bellows.text.ChatTokenizer;
import io.bellows.text.toolcall.ToolCallFormat;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** How answers that call tools are written, whole and as the end of a stream. */
class ChatReplyTest {

    private static final String CALL =
            "<tool_call>{\"name\": \"calculator\", \"arguments\": {\"expression\": \"12*12\"}}</tool_call>";

    private static ChatTokenizer text;

    @BeforeAll
    static void load() throws Exception {
        text = ChatTokenizer.load(Path.of("../data-samples/starter"), Map.of());
    }

    @AfterAll
    static void close() {
        text.close();
    }

    @Test
    void callsAreToolCallsAndTheRestIsContent() {
        JsonNode choice = reply().choice(answer("Let me see. " + CALL + CALL, FinishReason.STOP));

        assertThat(choice.path("finish_reason").asText()).isEqualTo("tool_calls");
        assertThat(choice.path("message").path("content").asText()).isEqualTo("Let me see.");
        JsonNode calls = choice.path("message").path("tool_calls");
        assertThat(calls).hasSize(2).allSatisfy(call -> {
            assertThat(call.path("type").asText()).isEqualTo("function");
            assertThat(call.path("function").path("name").asText()).isEqualTo("calculator");
            assertThat(call.path("function").path("arguments").asText()).isEqualTo("{\"expression\":\"12*12\"}");
            assertThat(call.path("id").asText()).matches("[0-9a-f]{9}");
        });
        assertThat(calls.get(0).path("id")).isNotEqualTo(calls.get(1).path("id"));
    }

    @Test
    void aTurnThatIsOnlyACallHasNoContent() {
        assertThat(reply().choice(answer(CALL, FinishReason.STOP))
                        .at("/message/content")
                        .isNull())
                .isTrue();
    }

    @Test
    void theLastPieceOfAStreamHasTheCalls() {
        ObjectNode closing = reply().closing(answer(CALL, FinishReason.STOP));

        assertThat(reply().showsEarly()).isFalse();
        assertThat(closing.at("/delta/tool_calls/0/index").asInt(-1)).isZero();
        assertThat(closing.at("/delta/tool_calls/0/function/name").asText()).isEqualTo("calculator");
        assertThat(closing.path("finish_reason").asText()).isEqualTo("tool_calls");
    }

    @Test
    void aCallThatCannotBeReadStaysContent() {
        String cut = CALL.substring(0, 40);
        JsonNode choice = reply().choice(answer(cut, FinishReason.LENGTH));

        assertThat(choice.path("finish_reason").asText()).isEqualTo("length");
        assertThat(choice.at("/message/content").asText()).isEqualTo(cut);
        assertThat(choice.path("message").has("tool_calls")).isFalse();
    }

    @Test
    void withoutOfferedToolsACallIsText() {
        JsonNode choice = new ChatReply(text.tokenizer(), false, null).choice(answer(CALL, FinishReason.STOP));

        assertThat(choice.at("/message/content").asText()).isEqualTo(CALL);
        assertThat(choice.path("finish_reason").asText()).isEqualTo("stop");
    }

    private static ChatReply reply() {
        ObjectNode schema = JsonNodeFactory.instance.objectNode().put("type", "function");
        schema.putObject("function").put("name", "calculator");
        return new ChatReply(text.tokenizer(), false, new OfferedTools(ToolCallFormat.HERMES, List.of(schema)));
    }

    private static Answer answer(String said, FinishReason reason) {
        int[] ids = text.tokenizer().encode(said + (reason == FinishReason.STOP ? "<|im_end|>" : ""));
        float[] logProbs = new float[ids.length];
        Arrays.fill(logProbs, -1);
        return Answer.of(
                0,
                new Generation(ids, logProbs, reason, 0, 0),
                new ServedModel("starter", text, null, 128, ToolCallFormat.HERMES),
                List.of());
    }
}
