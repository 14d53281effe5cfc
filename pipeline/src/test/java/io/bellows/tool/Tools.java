package io.bellows.tool;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.text.toolcall.ToolCall;

/** Short ways to write calls and arguments in tests. */
final class Tools {

    static final ObjectNode NONE = JsonNodeFactory.instance.objectNode();

    private Tools() {}

    static ToolCall call(String name, String arguments) {
        return new ToolCall("call00000", name, arguments);
    }
}
