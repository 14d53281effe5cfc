package io.bellows.tool;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.re2j.Pattern;

/** The shape of an OpenAI function schema. */
final class ToolSchema {

    /** What the OpenAI API accepts as a name. */
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]{1,64}");

    private ToolSchema() {}

    static String name(ObjectNode schema) {
        return schema.path("function").path("name").textValue();
    }

    /** The JSON schema of the arguments; of a function that declares none, an object without any. */
    static ObjectNode parameters(ObjectNode schema) {
        return schema.path("function").get("parameters") instanceof ObjectNode parameters ? parameters : emptyObject();
    }

    static ObjectNode of(String name, String description, ObjectNode parameters) {
        ObjectNode schema = JsonNodeFactory.instance.objectNode().put("type", "function");
        schema.putObject("function")
                .put("name", name)
                .put("description", description)
                .set("parameters", parameters);
        return checked(schema);
    }

    static ObjectNode emptyObject() {
        ObjectNode object = JsonNodeFactory.instance.objectNode().put("type", "object");
        object.putObject("properties");
        return object;
    }

    /**
     * The schema, if it is one.
     *
     * @throws IllegalArgumentException when it is not
     */
    static ObjectNode checked(JsonNode schema) {
        if (!(schema instanceof ObjectNode object)
                || !object.path("type").asText("function").equals("function")
                || !object.path("function").path("name").isTextual()) {
            throw new IllegalArgumentException("Invalid tool_schema " + schema
                    + ": expected {type: function, function: {name: …, description: …, parameters: …}}");
        }
        if (!NAME.matches(name(object))) {
            throw new IllegalArgumentException(
                    "Invalid tool name '" + name(object) + "': expected 1 to 64 letters, digits, _ or -");
        }
        JsonNode parameters = object.path("function").get("parameters");
        if (parameters != null && !parameters.path("type").asText().equals("object")) {
            throw new IllegalArgumentException("Invalid parameters of tool '" + name(object) + "' " + parameters
                    + ": expected a JSON schema of type object");
        }
        return object;
    }
}
