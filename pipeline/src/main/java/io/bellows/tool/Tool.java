package io.bellows.tool;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;

/**
 * A tool that is configured and can be opened for a trajectory. Immutable.
 *
 * @param schema its OpenAI function schema, {@code {"type": "function", "function": {"name": …, "parameters": …}}}
 * @param source where it comes from, for messages
 * @param arguments checks arguments by the schema
 * @param instances makes what a trajectory calls
 */
record Tool(ObjectNode schema, String source, ArgumentSchema arguments, InstanceFactory instances) {

    /** Takes the argument schema from the function schema. */
    static Tool of(ObjectNode schema, String source, InstanceFactory instances) {
        return new Tool(schema, source, new ArgumentSchema(ToolSchema.parameters(schema)), instances);
    }

    String name() {
        return ToolSchema.name(schema);
    }

    /** Makes an instance for one trajectory. */
    interface InstanceFactory {

        /**
         * A fresh instance.
         *
         * @param shared the objects that tools of this trajectory have in common, by class
         */
        NativeTool newInstance(Map<Class<?>, Object> shared) throws Exception;
    }
}
