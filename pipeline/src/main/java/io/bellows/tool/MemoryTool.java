package io.bellows.tool;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import java.util.TreeMap;

/**
 * Keeps texts by key for the length of one trajectory. The row's {@code create_kwargs} may begin with some: {@code {"entries":
 * {"key": "text"}}}.
 */
public final class MemoryTool implements NativeTool {

    private final Limits limits;
    private final Map<String, String> entries = new TreeMap<>();

    /** A memory within limits. */
    public MemoryTool(Limits limits) {
        this.limits = limits;
    }

    /**
     * What a memory holds at most.
     *
     * @param maxEntries keys; 100 when it is not given
     * @param maxCharacters characters of one key and its text together; 2,000 when it is not given
     */
    public record Limits(Integer maxEntries, Integer maxCharacters) {

        /** Fills in what is not given. */
        public Limits {
            maxEntries = positive("max_entries", maxEntries, 100);
            maxCharacters = positive("max_characters", maxCharacters, 2_000);
        }

        private static int positive(String name, Integer value, int otherwise) {
            if (value != null && value < 1) {
                throw new IllegalArgumentException("Invalid " + name + " " + value + ": expected 1 or more");
            }
            return value == null ? otherwise : value;
        }
    }

    @Override
    public String toolSchema() {
        return """
                {"type": "function", "function": {"name": "memory",
                 "description": "Keeps texts by key until the end of the conversation.",
                 "parameters": {"type": "object", "required": ["action"], "additionalProperties": false, "properties": {
                  "action": {"type": "string", "enum": ["set", "get", "delete", "list"]},
                  "key": {"type": "string", "description": "needed by set, get and delete"},
                  "value": {"type": "string", "description": "needed by set"}}}}}""";
    }

    @Override
    public void create(ObjectNode createKwargs) {
        JsonNode given = createKwargs.path("entries");
        given.fieldNames().forEachRemaining(key -> {
            // Parquet puts nulls where rows have other keys.
            if (!given.get(key).isNull()) {
                set(key, given.get(key).asText());
            }
        });
    }

    @Override
    public String execute(ObjectNode arguments, ObjectNode executeKwargs) {
        String action = arguments.path("action").asText();
        if (action.equals("list")) {
            return entries.isEmpty() ? "(empty)" : String.join("\n", entries.keySet());
        }
        String key = needed(arguments, "key", action);
        return switch (action) {
            case "set" -> set(key, needed(arguments, "value", action));
            case "get" -> existing(key);
            case "delete" -> {
                existing(key);
                entries.remove(key);
                yield "deleted " + key;
            }
            default -> throw new IllegalArgumentException("Unsupported action '" + action + "'");
        };
    }

    private String set(String key, String value) {
        if (key.length() + value.length() > limits.maxCharacters()) {
            throw new IllegalArgumentException("Cannot keep " + (key.length() + value.length())
                    + " characters; at most " + limits.maxCharacters() + " for a key and its value");
        }
        if (!entries.containsKey(key) && entries.size() >= limits.maxEntries()) {
            throw new IllegalArgumentException(
                    "Cannot keep more than " + limits.maxEntries() + " entries; delete one first");
        }
        entries.put(key, value);
        return "stored " + key;
    }

    private String existing(String key) {
        String value = entries.get(key);
        if (value == null) {
            throw new IllegalArgumentException("Cannot find key '" + key + "'; keys are " + entries.keySet());
        }
        return value;
    }

    private static String needed(ObjectNode arguments, String name, String action) {
        JsonNode value = arguments.get(name);
        if (value == null || value.isNull()) {
            throw new IllegalArgumentException("Cannot " + action + " without " + name);
        }
        return value.asText();
    }
}
