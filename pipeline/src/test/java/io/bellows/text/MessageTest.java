package io.bellows.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import org.junit.jupiter.api.Test;

class MessageTest {

    private static final JsonMapper JSON = new JsonMapper();

    @Test
    void comesBackFromJsonAsItWas() throws JsonProcessingException {
        for (String text : new String[] {
            "{\"role\":\"user\",\"content\":\"Hi\"}",
            "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"1\",\"n\":1.50}]}",
            "{\"role\":\"tool\",\"content\":\"3\",\"tool_call_id\":\"1\",\"name\":\"add\"}"
        }) {
            JsonNode json = JSON.readTree(text);
            assertThat(Message.fromJson(json).toJson()).isEqualTo(json);
        }
    }

    @Test
    void joinsTextPartsAndRefusesOthers() throws JsonProcessingException {
        JsonNode parts = JSON.readTree("{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},\"b\"]}");
        assertThat(Message.fromJson(parts)).isEqualTo(Message.of("user", "ab"));
        JsonNode image = JSON.readTree("{\"role\":\"user\",\"content\":[{\"type\":\"image_url\"}]}");
        assertThatThrownBy(() -> Message.fromJson(image))
                .hasMessageStartingWith("Unsupported content part {\"type\":\"image_url\"}");
    }

    @Test
    void takesToolCallsGivenAsAString() throws JsonProcessingException {
        JsonNode json = JSON.readTree("{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":\"[{\\\"id\\\":1}]\"}");
        assertThat(Message.fromJson(json).toolCalls()).isEqualTo("[{\"id\":1}]");
    }

    @Test
    void namesWhatIsWrong() throws JsonProcessingException {
        assertInvalid("[]", "Invalid message []");
        assertInvalid("{\"content\":\"x\"}", "Invalid message {\"content\":\"x\"}: it has no role");
        assertInvalid("{\"role\":1}", "Invalid role 1 of a message");
        assertInvalid(
                "{\"role\":\"user\"}", "Invalid message {\"role\":\"user\"}: it has neither content nor tool_calls");
        assertInvalid(
                "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[]}",
                "Invalid message {\"role\":\"assistant\",\"content\":null,\"tool_calls\":[]}: it has neither");
        assertInvalid("{\"role\":\"user\",\"content\":5}", "Invalid content 5 of a message");
        assertInvalid("{\"role\":\"user\",\"tool_calls\":\"{\"}", "Invalid tool_calls {");
        assertInvalid("{\"role\":\"user\",\"tool_calls\":{}}", "Invalid tool_calls {}");
    }

    private static void assertInvalid(String json, String message) throws JsonProcessingException {
        JsonNode node = JSON.readTree(json);
        assertThatThrownBy(() -> Message.fromJson(node))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(message);
    }
}
