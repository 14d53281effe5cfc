package io.bellows.serving;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.engine.Generation;
import io.bellows.text.SpecialTokens;
import io.bellows.text.Tokenizer;
import java.nio.charset.StandardCharsets;

/**
 * {@code /v1/chat/completions}.
 *
 * @param logProbs whether each token's log-prob is wanted
 */
record ChatReply(Tokenizer tokenizer, boolean logProbs) implements Reply {

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
        return true;
    }

    @Override
    public ObjectNode choice(Answer answer) {
        ObjectNode choice = JsonNodeFactory.instance.objectNode().put("index", answer.index());
        choice.putObject("message").put("role", "assistant").put("content", answer.text());
        return end(choice, answer);
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
        choice.putObject("delta");
        return end(choice, answer);
    }

    private static ObjectNode open(int index) {
        ObjectNode choice = JsonNodeFactory.instance.objectNode().put("index", index);
        choice.putNull("logprobs");
        choice.putNull("finish_reason");
        return choice;
    }

    private ObjectNode end(ObjectNode choice, Answer answer) {
        choice.putNull("logprobs");
        if (logProbs) {
            tokens(choice.putObject("logprobs").putArray("content"), answer.generation());
        }
        return choice.put("finish_reason", answer.finishReason());
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
