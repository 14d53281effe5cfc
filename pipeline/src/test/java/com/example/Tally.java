package com.example;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.tool.NativeTool;

/** Counts what a trajectory asked it to count. */
public final class Tally implements NativeTool {
    private int count;

    @Override
    public String toolSchema() {
        return """
                {"type": "function", "function": {"name": "tally", "description": "Adds to a count and tells it.",
                 "parameters": {"type": "object", "required": ["by"], "properties": {"by": {"type": "integer"}}}}}""";
    }

    @Override
    public Object execute(ObjectNode arguments, ObjectNode executeKwargs) {
        count += arguments.get("by").intValue();
        return "the count is " + count;
    }
}
