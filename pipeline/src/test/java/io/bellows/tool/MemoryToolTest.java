package io.bellows.tool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.config.InvalidConfigException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The shipped memory: one for each trajectory, within its limits. */
class MemoryToolTest {

    private static final Duration TIME = Duration.ofMinutes(1);

    private final ToolRegistry tools = registry("{max_entries: 2, max_characters: 10}");

    @Test
    void whatIsSetIsThereUntilItIsDeleted() {
        try (ToolSession session = tools.open(null, null, String::length, TIME)) {
            assertThat(call(session, "{\"action\": \"list\"}")).isEqualTo("(empty)");
            assertThat(call(session, "{\"action\": \"set\", \"key\": \"b\", \"value\": \"1\"}"))
                    .isEqualTo("stored b");
            assertThat(call(session, "{\"action\": \"set\", \"key\": \"a\", \"value\": \"2\"}"))
                    .isEqualTo("stored a");
            assertThat(call(session, "{\"action\": \"list\"}")).isEqualTo("a\nb");
            assertThat(call(session, "{\"action\": \"get\", \"key\": \"b\"}")).isEqualTo("1");
            assertThat(call(session, "{\"action\": \"delete\", \"key\": \"b\"}"))
                    .isEqualTo("deleted b");
            assertThat(call(session, "{\"action\": \"get\", \"key\": \"b\"}"))
                    .isEqualTo("Error: Cannot find key 'b'; keys are [a]");
        }
    }

    @Test
    void limitsAreErrorsForTheModel() {
        try (ToolSession session = tools.open(null, null, String::length, TIME)) {
            assertThat(call(session, "{\"action\": \"set\", \"key\": \"a\", \"value\": \"0123456789\"}"))
                    .contains("Cannot keep 11 characters");
            call(session, "{\"action\": \"set\", \"key\": \"a\", \"value\": \"1\"}");
            call(session, "{\"action\": \"set\", \"key\": \"b\", \"value\": \"1\"}");
            assertThat(call(session, "{\"action\": \"set\", \"key\": \"c\", \"value\": \"1\"}"))
                    .contains("Cannot keep more than 2 entries");
            assertThat(call(session, "{\"action\": \"set\", \"key\": \"b\", \"value\": \"2\"}"))
                    .isEqualTo("stored b");
            assertThat(call(session, "{\"action\": \"set\", \"key\": \"b\"}")).contains("Cannot set without value");
            assertThat(call(session, "{\"action\": \"get\"}")).contains("Cannot get without key");
            assertThat(call(session, "{\"action\": \"run\"}")).contains("invalid arguments");
        }
    }

    @Test
    void twoTrajectoriesHaveTwoMemories() throws Exception {
        ObjectNode kwargs = (ObjectNode) new JsonMapper()
                .readTree("{\"memory\": {\"create_kwargs\": {\"entries\": {\"a\": \"1\", \"b\": null}}}}");
        try (ToolSession one = tools.open(kwargs, null, String::length, TIME);
                ToolSession other = tools.open(null, null, String::length, TIME)) {
            assertThat(call(one, "{\"action\": \"list\"}")).isEqualTo("a");
            assertThat(call(other, "{\"action\": \"list\"}")).isEqualTo("(empty)");
        }
    }

    @Test
    void aLimitBelowOneIsAConfigurationError() {
        assertThatThrownBy(() -> registry("{max_entries: 0}"))
                .isInstanceOf(InvalidConfigException.class)
                .hasMessageContaining("Invalid max_entries 0: expected 1 or more");
    }

    private static ToolRegistry registry(String config) {
        return ToolRegistry.builder()
                .nativeTools("tools.yaml", "tools: [{class_name: io.bellows.tool.MemoryTool, config: " + config + "}]")
                .build();
    }

    private static String call(ToolSession session, String arguments) {
        return session.call(Tools.call("memory", arguments), TIME).text();
    }
}
