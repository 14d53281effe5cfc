package io.bellows.data;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/**
 * Reads what datasets store as a JSON value in some rows and as a text holding JSON in others. Text that is no JSON stays as
 * it is and flags the row. One instance a row.
 */
final class JsonText {

    private String flag;

    /** The first column that should hold JSON and does not, with the reason; null when there is none. */
    String flag() {
        return flag;
    }

    /** The row with the texts of {@code columns} read. */
    ObjectNode parsed(ObjectNode row, List<String> columns) {
        for (String column : columns) {
            if (row.path(column).isTextual()) {
                row.set(column, parsed(column, row.get(column)));
            }
        }
        return row;
    }

    /** A message with the arguments of its tool calls as objects. */
    JsonNode withParsedArguments(JsonNode message) {
        JsonNode calls = message.path("tool_calls");
        for (JsonNode call : calls) {
            if (call.path("function").path("arguments").isTextual()) {
                ObjectNode function = (ObjectNode) call.get("function");
                function.set("arguments", parsed("tool_calls arguments", function.get("arguments")));
            }
        }
        return message;
    }

    /**
     * The function schemas of a column, each an object or a text holding one; null when there are none. Names of tools are
     * no schemas: they flag the row.
     */
    ArrayNode schemas(String column, ObjectNode row) {
        ArrayNode schemas = row.arrayNode();
        for (JsonNode tool : row.path(column)) {
            JsonNode schema = tool.isTextual() ? parsed(column, tool) : tool;
            if (!schema.isObject()) {
                flag = "'" + column + "' stays out of the prompt: " + RowJson.shortened(tool.toString())
                        + " is no function schema";
                return null;
            }
            schemas.add(schema);
        }
        return schemas.isEmpty() ? null : schemas;
    }

    private JsonNode parsed(String what, JsonNode text) {
        try {
            return RowJson.withoutNulls(RowJson.parse(text.textValue()));
        } catch (IllegalArgumentException e) {
            if (flag == null) {
                flag = "'" + what + "' is kept as text: " + e.getMessage();
            }
            return text;
        }
    }
}
