package io.bellows.text.toolcall;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/** How a family of models writes tool calls; the values of {@code rollout.multi_turn.format}. */
public enum ToolCallFormat {
    /** {@code <tool_call>{"name": "f", "arguments": {…}}</tool_call>}: Hermes, Qwen2.5, Qwen3. */
    HERMES(schemas -> new HermesSyntax()),

    /** {@code <tool_call><function=f><parameter=x>…</parameter></function></tool_call>}: Qwen3-Coder. */
    QWEN3_CODER(Qwen3CoderSyntax::new),

    /** A turn that is {@code {"name": "f", "parameters": {…}}}, or such objects after {@code <|python_tag|>}: Llama 3. */
    LLAMA3_JSON(schemas -> new Llama3Syntax()),

    /** {@code [TOOL_CALLS][{"name": "f", "arguments": {…}}, …]}: Mistral. */
    MISTRAL(schemas -> new MistralSyntax());

    private final Function<List<ObjectNode>, CallSyntax> syntax;

    ToolCallFormat(Function<List<ObjectNode>, CallSyntax> syntax) {
        this.syntax = syntax;
    }

    /**
     * A format by its configuration name, such as {@code hermes}.
     *
     * @throws IllegalArgumentException when there is none of that name
     */
    public static ToolCallFormat named(String name) {
        return Arrays.stream(values())
                .filter(format -> format.configName().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("Unsupported tool-call format '" + name
                        + "': expected one of "
                        + Arrays.stream(values())
                                .map(ToolCallFormat::configName)
                                .toList()));
    }

    /** The name in the configuration. */
    public String configName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * A parser for the turns of one trajectory.
     *
     * @param schemas the trajectory's tools as OpenAI function schemas; formats without types of their own read from them whether
     *     an argument is a text
     */
    public ToolCallParser parser(List<ObjectNode> schemas) {
        return new ToolCallParser(syntax.apply(schemas));
    }
}
