package io.bellows.env;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.text.toolcall.ToolCall;
import io.bellows.text.toolcall.ToolCallFormat;
import io.bellows.tool.ToolRegistry;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Tools some of whose arguments the model does not see: the environment puts them in before each call, such as the id of the trajectory's
 * sandbox. What the model writes for them itself is overwritten.
 */
public abstract class StatefulToolEnv extends ToolEnv {

    private final Map<String, Set<String>> hidden = new HashMap<>();

    /** As {@link ToolEnv#ToolEnv}. */
    protected StatefulToolEnv(ToolRegistry registry, ToolCallFormat format) {
        super(registry, format);
    }

    /** Hides arguments of a tool from the model; in the constructor. */
    protected final void hide(String tool, String... arguments) {
        hidden.put(tool, Set.of(arguments));
    }

    /**
     * Puts the hidden arguments in. What it throws is an error of the trajectory, not of the call.
     *
     * @param tool name of the tool
     * @param arguments what the model gave, without the hidden ones
     */
    protected abstract void inject(String tool, ObjectNode arguments, State state) throws Exception;

    @Override
    protected final List<ObjectNode> shownSchemas(List<ObjectNode> all) {
        return all.stream().map(this::shown).toList();
    }

    private ObjectNode shown(ObjectNode schema) {
        Set<String> names = hidden.get(schema.path("function").path("name").asText());
        if (names == null) {
            return schema;
        }
        ObjectNode copy = schema.deepCopy();
        JsonNode parameters = copy.path("function").path("parameters");
        if (parameters.path("properties") instanceof ObjectNode properties) {
            properties.remove(names);
        }
        if (parameters.path("required") instanceof ArrayNode required) {
            for (int i = required.size() - 1; i >= 0; i--) {
                if (names.contains(required.get(i).asText())) {
                    required.remove(i);
                }
            }
        }
        return copy;
    }

    @Override
    protected final ToolCall prepare(ToolCall call, State state) throws Exception {
        if (!hidden.containsKey(call.name()) || !(parsed(call.arguments()) instanceof ObjectNode arguments)) {
            return call; // arguments that are no object get their answer from the registry
        }
        arguments.remove(hidden.get(call.name()));
        inject(call.name(), arguments, state);
        return new ToolCall(call.id(), call.name(), arguments.toString());
    }
}
