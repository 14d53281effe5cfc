package io.bellows.serving;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.engine.Generation;
import io.bellows.text.SpecialTokens;
import io.bellows.text.Tokenizer;
import java.util.stream.IntStream;

/**
 * {@code /v1/completions}; ids can be had as vLLM gives them, by {@code return_token_ids}.
 *
 * @param logProbs whether each token's log-prob is wanted
 * @param tokenIds whether the ids of prompt and answer are wanted
 */
record TextReply(Tokenizer tokenizer, int[] prompt, boolean logProbs, boolean tokenIds) implements Reply {

    @Override
    public String object() {
        return "text_completion";
    }

    @Override
    public String chunkObject() {
        return "text_completion";
    }

    @Override
    public String idPrefix() {
        return "cmpl-";
    }

    @Override
    public boolean showsEarly() {
        return true;
    }

    @Override
    public ObjectNode choice(Answer answer) {
        ObjectNode choice = piece(answer.index(), answer.text());
        choice.put("finish_reason", answer.finishReason());
        details(choice, answer.generation());
        return choice;
    }

    @Override
    public ObjectNode opening(int index) {
        return null;
    }

    @Override
    public ObjectNode piece(int index, String text) {
        ObjectNode choice = JsonNodeFactory.instance.objectNode();
        choice.put("index", index).put("text", text);
        choice.putNull("logprobs");
        choice.putNull("finish_reason");
        return choice;
    }

    @Override
    public ObjectNode closing(Answer answer) {
        ObjectNode choice = piece(answer.index(), "").put("finish_reason", answer.finishReason());
        details(choice, answer.generation());
        return choice;
    }

    private void details(ObjectNode choice, Generation generation) {
        if (logProbs) {
            ObjectNode node = choice.putObject("logprobs");
            ArrayNode tokens = node.putArray("tokens");
            ArrayNode values = node.putArray("token_logprobs");
            for (int i = 0; i < generation.ids().length; i++) {
                tokens.add(tokenizer.decode(new int[] {generation.ids()[i]}, SpecialTokens.KEEP));
                values.add(generation.logProbs()[i]);
            }
            node.putNull("top_logprobs");
        }
        if (tokenIds) {
            IntStream.of(prompt).forEach(choice.putArray("prompt_token_ids")::add);
            IntStream.of(generation.ids()).forEach(choice.putArray("token_ids")::add);
        }
    }
}
