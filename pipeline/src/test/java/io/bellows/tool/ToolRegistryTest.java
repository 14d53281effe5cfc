package io.bellows.tool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.config.InvalidConfigException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Which tools a registry has, and what it refuses. */
class ToolRegistryTest {

    private static final String CALCULATOR = "{class_name: io.bellows.tool.CalculatorTool}";

    /** A function with the name of a shipped tool. */
    public static final class Other {
        /** Clashes. */
        @FunctionTool("adds")
        public static int calculator(int a) {
            return a;
        }
    }

    /** Two functions with one name. */
    public static final class Twice {
        /** One. */
        @FunctionTool(value = "one", name = "same")
        public static int one() {
            return 1;
        }

        /** Two. */
        @FunctionTool(value = "two", name = "same")
        public static int two() {
            return 2;
        }
    }

    /** Units. */
    public enum Unit {
        /** Metres. */
        M,
        /** Feet. */
        FT
    }

    /** A place. */
    public record Place(@Param("its name") String name, Optional<Double> height) {}

    /** Every kind of parameter. */
    public static final class Kinds {
        /** Takes all. */
        @FunctionTool("takes all")
        public static String all(
                @Param("a text") String text,
                int whole,
                double decimal,
                boolean flag,
                Unit unit,
                List<Integer> list,
                Place place,
                Optional<Long> maybe) {
            return text + whole + decimal + flag + unit + list + place.name() + maybe.orElse(-1L);
        }
    }

    @Test
    void aNameUsedTwiceInAnyCombinationIsAnErrorThatNamesBothSources() {
        assertThatThrownBy(() -> ToolRegistry.builder()
                        .nativeTools("a.yaml", "tools: [" + CALCULATOR + ", " + CALCULATOR + "]")
                        .build())
                .isInstanceOf(InvalidConfigException.class)
                .hasMessageContaining(
                        "Invalid tool name 'calculator': a.yaml tools[0] and a.yaml tools[1] both have it; rename one");
        assertThatThrownBy(() -> ToolRegistry.builder()
                        .nativeTools("a.yaml", "tools: [" + CALCULATOR + "]")
                        .nativeTools("b.yaml", "tools: [" + CALCULATOR + "]")
                        .build())
                .hasMessageContaining("a.yaml tools[0] and b.yaml tools[0] both have it");
        assertThatThrownBy(() -> ToolRegistry.builder()
                        .nativeTools("a.yaml", "tools: [" + CALCULATOR + "]")
                        .functionTools(Other.class.getName())
                        .build())
                .hasMessageContaining("a.yaml tools[0] and method " + Other.class.getName() + ".calculator");
        assertThatThrownBy(() -> ToolRegistry.builder()
                        .functionTools(Twice.class.getName())
                        .build())
                .hasMessageContaining("method " + Twice.class.getName() + ".one and method " + Twice.class.getName()
                        + ".two both have it");
    }

    @Test
    void classesComeFromAllowedPackagesOnly() {
        assertThatThrownBy(() -> ToolRegistry.builder()
                        .nativeTools("a.yaml", "tools: [{class_name: java.lang.ProcessBuilder}]")
                        .build())
                .hasMessageContaining("a.yaml tools[0]: Unsupported class_name 'java.lang.ProcessBuilder'")
                .hasMessageContaining("its package is not among [io.bellows.tool]");
        assertThatThrownBy(() -> ToolRegistry.builder()
                        .nativeTools("a.yaml", "tools: [{class_name: io.bellows.toolbox.Tool}]")
                        .build())
                .hasMessageContaining("Unsupported class_name 'io.bellows.toolbox.Tool'");
        assertThatThrownBy(() -> ToolRegistry.builder()
                        .allowPackages(List.of("java.util"))
                        .nativeTools("a.yaml", "tools: [{class_name: java.util.ArrayList}]")
                        .build())
                .hasMessageContaining("Unsupported class_name 'java.util.ArrayList': it does not implement");
        assertThatThrownBy(() -> ToolRegistry.builder()
                        .nativeTools("a.yaml", "tools: [{class_name: '../x'}, {class_name: io.bellows.tool.Nothing}]")
                        .build())
                .hasMessageContaining("Invalid class_name '../x'")
                .hasMessageContaining("Cannot load class_name 'io.bellows.tool.Nothing'");
    }

    @Test
    void everyErrorIsReportedAtOnce() {
        assertThatThrownBy(() -> ToolRegistry.builder()
                        .nativeTools(
                                "a.yaml",
                                "tools: [{class_name: io.bellows.tool.CalculatorTool, config: {x: 1}},"
                                        + " {class_name: io.bellows.tool.MemoryTool, config: {max_entrees: 1}},"
                                        + " {class_name: io.bellows.tool.MemoryTool, confg: {}}]")
                        .nativeTools("b.yaml", "tools: {}")
                        .nativeTools("c.yaml", "tools: [")
                        .build())
                .hasMessageContaining("Unsupported config {\"x\":1}")
                .hasMessageContaining("max_entrees")
                .hasMessageContaining("Unsupported key 'confg'")
                .hasMessageContaining("Invalid tool configuration b.yaml")
                .hasMessageContaining("Invalid YAML in c.yaml");
    }

    @Test
    void schemasAreInferredFromSignatures() throws Exception {
        ToolRegistry tools =
                ToolRegistry.builder().functionTools(Kinds.class.getName()).build();

        assertThat(tools.schemas(null)).singleElement().isEqualTo(new JsonMapper().readTree("""
                {"type": "function", "function": {"name": "all", "description": "takes all", "parameters": {
                 "type": "object", "properties": {
                  "text": {"type": "string", "description": "a text"},
                  "whole": {"type": "integer"},
                  "decimal": {"type": "number"},
                  "flag": {"type": "boolean"},
                  "unit": {"type": "string", "enum": ["M", "FT"]},
                  "list": {"type": "array", "items": {"type": "integer"}},
                  "place": {"type": "object", "properties": {
                    "name": {"type": "string", "description": "its name"}, "height": {"type": "number"}},
                   "required": ["name"], "additionalProperties": false},
                  "maybe": {"type": "integer"}},
                 "required": ["text", "whole", "decimal", "flag", "unit", "list", "place"],
                 "additionalProperties": false}}}"""));
        try (ToolSession session = tools.open(null, null, String::length, Duration.ofMinutes(1))) {
            ToolResult result = session.call(Tools.call("all", """
                            {"text": "t", "whole": 1, "decimal": 0.5, "flag": true, "unit": "FT", "list": [1, 2],
                             "place": {"name": "p"}}"""), Duration.ofMinutes(1));
            assertThat(result.error()).isNull();
            assertThat(result.text()).isEqualTo("t10.5trueFT[1, 2]p-1");
        }
    }

    @Test
    void aRowSelectsSomeOfTheTools() {
        ToolRegistry tools = ToolRegistry.builder()
                .nativeTools("a.yaml", "tools: [" + CALCULATOR + ", {class_name: io.bellows.tool.MemoryTool}]")
                .build();

        assertThat(tools.names()).containsExactly("calculator", "memory");
        assertThat(names(tools.schemas(List.of("memory")))).containsExactly("memory");
        assertThat(names(tools.schemas(List.of()))).isEmpty();
        try (ToolSession session = tools.open(null, List.of("memory"), String::length, Duration.ofMinutes(1))) {
            assertThat(names(session.schemas())).containsExactly("memory");
            assertThat(session.call(Tools.call("calculator", "{}"), Duration.ofMinutes(1))
                            .text())
                    .isEqualTo("Error: unknown tool 'calculator'; available: memory");
        }
        assertThatThrownBy(() -> tools.open(null, List.of("nope"), String::length, Duration.ofMinutes(1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Invalid tool_selection 'nope': expected names among [calculator, memory]");
    }

    @Test
    void theToolOfContributingCounts() {
        ToolRegistry tools = ToolRegistry.builder()
                .allowPackages(List.of("com.example"))
                .nativeTools("tools.yaml", "tools: [{class_name: com.example.Tally}]")
                .build();

        try (ToolSession session = tools.open(null, null, String::length, Duration.ofMinutes(1))) {
            session.call(Tools.call("tally", "{\"by\": 2}"), Duration.ofMinutes(1));
            assertThat(session.call(Tools.call("tally", "{\"by\": 3}"), Duration.ofMinutes(1))
                            .text())
                    .isEqualTo("the count is 5");
        }
    }

    @Test
    void theShippedConfigurationsLoad() throws Exception {
        List<String> names = new ArrayList<>();
        try (Stream<Path> files = Files.list(Path.of("../conf/tools"))) {
            for (Path file : files.sorted().toList()) {
                names.addAll(ToolRegistry.builder()
                        .nativeTools(file.toString(), Files.readString(file))
                        .build()
                        .names());
            }
        }

        assertThat(names).containsExactly("calculator", "memory", "sql", "sql");
    }

    private static List<String> names(List<ObjectNode> schemas) {
        return schemas.stream().map(ToolSchema::name).toList();
    }
}
