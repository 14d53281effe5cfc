package io.bellows.env;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.text.Message;
import java.util.List;

/**
 * What a row of a dataset gives a trajectory. Not to be changed: the samples of a prompt share it.
 *
 * @param exampleId digest of the data file and row in it
 * @param dataSource the dataset that the row is from
 * @param prompt the messages of the row
 * @param answer the reference answer as text, or null
 * @param tools a JSON array of function schemas that the row brings, or null
 * @param columns all other columns by name
 */
public record Example(
        String exampleId, String dataSource, List<Message> prompt, String answer, JsonNode tools, ObjectNode columns) {

    /** Copies the list. */
    public Example {
        prompt = List.copyOf(prompt);
    }

    /** The column {@code info}, else {@code extra_info}; an empty object where the row has neither. */
    public JsonNode info() {
        JsonNode info = columns.has("info") ? columns.get("info") : columns.get("extra_info");
        return info == null || info.isNull() ? columns.objectNode() : info;
    }
}
