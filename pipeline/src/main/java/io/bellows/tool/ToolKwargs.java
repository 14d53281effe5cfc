package io.bellows.tool;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** What a row's {@code tools_kwargs} gives to one tool. */
record ToolKwargs(ObjectNode create, ObjectNode execute, ObjectNode calcReward, ObjectNode release) {

    /**
     * The part of {@code toolsKwargs} for {@code tool}; nulls, which Parquet puts where rows differ, count as absent.
     *
     * @throws IllegalArgumentException when something is no object
     */
    static ToolKwargs of(ObjectNode toolsKwargs, String tool) {
        JsonNode own = toolsKwargs == null ? null : toolsKwargs.get(tool);
        ObjectNode kwargs = object(own, "tools_kwargs." + tool);
        return new ToolKwargs(
                part(kwargs, tool, "create_kwargs"),
                part(kwargs, tool, "execute_kwargs"),
                part(kwargs, tool, "calc_reward_kwargs"),
                part(kwargs, tool, "release_kwargs"));
    }

    private static ObjectNode part(ObjectNode kwargs, String tool, String key) {
        return object(kwargs.get(key), "tools_kwargs." + tool + "." + key);
    }

    private static ObjectNode object(JsonNode node, String what) {
        if (node == null || node.isNull()) {
            return JsonNodeFactory.instance.objectNode();
        }
        if (node instanceof ObjectNode object) {
            return object.deepCopy();
        }
        throw new IllegalArgumentException("Invalid " + what + " " + node + ": expected an object");
    }
}
