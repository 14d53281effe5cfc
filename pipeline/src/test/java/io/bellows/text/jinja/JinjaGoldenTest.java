package io.bellows.text.jinja;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.bellows.text.Golden;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** What jinja2 3.1 renders in the environment of transformers, {@link JinjaTemplate} renders too. */
class JinjaGoldenTest {

    @TestFactory
    Stream<DynamicTest> rendersWhatPythonRenders() {
        JsonNode golden = Golden.json("jinja.json");
        Map<String, Object> variables = new HashMap<>();
        golden.path("variables").properties().forEach(entry -> variables.put(entry.getKey(), entry.getValue()));
        return StreamSupport.stream(golden.path("cases").spliterator(), false)
                .map(example ->
                        DynamicTest.dynamicTest(example.path("template").asText(), () -> check(example, variables)));
    }

    private static void check(JsonNode example, Map<String, Object> variables) {
        String template = example.path("template").asText();
        if (example.has("error")) {
            assertThatThrownBy(() -> JinjaTemplate.parse(template).render(variables, Map.of()))
                    .isInstanceOf(TemplateException.class)
                    .hasMessageMatching("(?s)(Cannot|Invalid|Unsupported) .*\\(line \\d+ of the chat template\\)");
        } else {
            assertThat(JinjaTemplate.parse(template).render(variables, Map.of()).value())
                    .isEqualTo(example.path("text").asText());
        }
    }
}
