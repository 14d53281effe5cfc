package io.bellows.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** Token ids in JSON. */
final class TokenIds {

    private TokenIds() {}

    /**
     * Ids of an array.
     *
     * @throws IllegalArgumentException when it is no array, or an id is not in 0 to {@code vocabularySize - 1}
     */
    static int[] read(JsonNode array, int vocabularySize) {
        if (array == null || !array.isArray()) {
            throw new IllegalArgumentException("Invalid ids: expected a list of token ids");
        }
        int[] ids = new int[array.size()];
        for (int i = 0; i < ids.length; i++) {
            JsonNode id = array.get(i);
            if (!id.isInt() || id.intValue() < 0 || id.intValue() >= vocabularySize) {
                throw new IllegalArgumentException(
                        "Invalid id " + id + " at " + i + ": outside of the vocabulary, 0 to " + (vocabularySize - 1));
            }
            ids[i] = id.intValue();
        }
        return ids;
    }

    /** Adds a list of ids to an object. */
    static void put(ObjectNode object, String name, int[] ids) {
        ArrayNode array = object.putArray(name);
        for (int id : ids) {
            array.add(id);
        }
    }

    /** Adds a range of numbers to an object. */
    static void put(ObjectNode object, String name, float[] values, int from, int count) {
        ArrayNode array = object.putArray(name);
        for (int i = from; i < from + count; i++) {
            array.add(values[i]);
        }
    }
}
