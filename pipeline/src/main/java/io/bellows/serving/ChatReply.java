package io.bellows.serving;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.engine.Generation;
import io.bellows.text.SpecialTokens;
import io.bellows.text.Tokenizer;
import io.bellows.text.toolcall.ParsedTurn;
import java.nio.charset.StandardCharsets;

/**
 * {@code /v1/chat/completions}.
 *
 * @param logProbs whether each token's log-prob is wanted
 * @param tools what the model may call; null for nothing
 */
record ChatReply(Tokenizer tokenizer, boolean logProbs, OfferedTools tools) implements Reply {

    @Override
    public String object() {
        return "chat.completion";
    }

    @Override
    public String chunkObject() {
        return "chat.completion.chunk";
    }

    @Override
    public String idPrefix() {
        return "chatcmpl-";
    }

    @Override
    public boolean showsEarly() {
        // Whether a text is the start of a call is known at its end only.
        return tools == null;
    }

    @Override
    public ObjectNode choice(Answer answer) {
        ObjectNode choice = JsonNodeFactory.instance.objectNode().put("index", answer.index());
        return end(choice, choice.putObject("message").put("role", "assistant").put("content", answer.text()), answer);
    }

    @Override
    public ObjectNode opening(int index) {
        ObjectNode choice = open(index);
        choice.putObject("delta").put("role", "assistant").put("content", "");
        return choice;
    }

    @Override
    public ObjectNode piece(int index, String text) {
        ObjectNode choice = open(index);
        choice.putObject("delta").put("content", text);
        return choice;
    }

    @Override
    public ObjectNode closing(Answer answer) {
        ObjectNode choice = open(answer.index());
        return end(choice, choice.putObject("delta"), answer);
    }

    private static ObjectNode open(int index) {
        ObjectNode choice = JsonNodeFactory.instance.objectNode().put("index", index);
        choice.putNull("logprobs");
        choice.putNull("finish_reason");
        return choice;
    }

    private ObjectNode end(ObjectNode choice, ObjectNode message, Answer answer) {
        String reason = answer.finishReason();
        if (tools != null) {
            ParsedTurn turn = tools.parse(answer);
            OfferedTools.write(message, turn);
            reason = turn.calls().isEmpty() || !reason.equals("stop") ? reason : "tool_calls";
        }
        choice.putNull("logprobs");
        if (logProbs) {
            tokens(choice.putObject("logprobs").putArray("content"), answer.generation());
        }
        return choice.put("finish_reason", reason);
    }

    private void tokens(ArrayNode content, Generation generation) {
        for (int i = 0; i < generation.ids().length; i++) {
            String token = tokenizer.decode(new int[] {generation.ids()[i]}, SpecialTokens.KEEP);
            ObjectNode node = content.addObject()
                    .put("token", token)
                    .put("logprob", generation.logProbs()[i]);
            ArrayNode bytes = node.putArray("bytes");
            for (byte b : token.getBytes(StandardCharsets.UTF_8)) {
                bytes.add(b & 0xff);
            }
            node.putArray("top_logprobs");
        }
    }
}
