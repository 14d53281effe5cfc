package io.bellows.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.env.ModelRequest;
import io.bellows.env.ModelTurn;
import io.bellows.text.Message;
import io.bellows.text.Tokenizer;
import java.util.Arrays;

/**
 * Messages in, a message out.
 *
 * @param tokenizer makes ids of what the server says, or null: turns have no ids then, which a judge needs not and an environment does
 */
record ChatDialect(Tokenizer tokenizer) implements Dialect {

    @Override
    public String path() {
        return "/chat/completions";
    }

    @Override
    public ObjectNode question(ModelRequest request) {
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        ArrayNode messages = body.putArray("messages");
        request.messages().forEach(message -> messages.add(json(message)));
        if (request.tools() != null && !request.tools().isEmpty()) {
            body.set("tools", request.tools());
        }
        return body.put("max_completion_tokens", request.maxTokens());
    }

    /** A message whose calls have their arguments as the protocol wants them: as text. */
    private static ObjectNode json(Message message) {
        ObjectNode node = message.toJson();
        for (JsonNode call : node.path("tool_calls")) {
            if (call.path("function") instanceof ObjectNode function
                    && !function.path("arguments").isTextual()) {
                function.put("arguments", function.path("arguments").toString());
            }
        }
        return node;
    }

    @Override
    public ModelTurn turn(JsonNode choice, Attempt attempt) throws InvalidAnswerException {
        Message message = message(choice.path("message"));
        ModelTurn.Finish finish = Dialect.finish(choice);
        int[] ids = ids(message, finish);
        if (tokenizer != null && ids.length == 0) {
            throw new InvalidAnswerException("no text came before the limit of "
                    + attempt.request().maxTokens() + " tokens; raise data.max_response_length");
        }
        return new ModelTurn(
                ids,
                new float[0],
                specialTokens -> message.content(),
                finish,
                0,
                attempt.millis(),
                message,
                attempt.retries());
    }

    private static Message message(JsonNode node) throws InvalidAnswerException {
        if (!node.isObject()) {
            throw new InvalidAnswerException("it has no message");
        }
        JsonNode content = node.path("content");
        JsonNode calls = node.path("tool_calls");
        if (!content.isTextual() && !content.isNull() && !content.isMissingNode()) {
            throw new InvalidAnswerException("its content is no text");
        }
        return new Message(
                "assistant",
                content.asText("").isEmpty() || content.isNull() ? "" : content.textValue(),
                calls.isArray() && !calls.isEmpty() ? calls.toString() : null,
                null,
                null);
    }

    private int[] ids(Message message, ModelTurn.Finish finish) {
        if (tokenizer == null) {
            return new int[0];
        }
        int[] said = tokenizer.encodeContent(
                message.toolCalls() == null ? message.content() : message.content() + message.toolCalls());
        if (finish == ModelTurn.Finish.LENGTH || tokenizer.eosId().isEmpty()) {
            return said;
        }
        int[] ended = Arrays.copyOf(said, said.length + 1);
        ended[said.length] = tokenizer.eosId().getAsInt();
        return ended;
    }
}
