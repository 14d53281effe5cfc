package io.bellows.serving;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** Errors as the protocol writes them. */
final class ApiErrors {

    private ApiErrors() {}

    static ObjectNode json(ApiException error) {
        ObjectNode result = JsonNodeFactory.instance.objectNode();
        result.putObject("error")
                .put("message", error.getMessage())
                .put("type", error.type())
                .put("param", error.param())
                .putNull("code");
        return result;
    }
}
