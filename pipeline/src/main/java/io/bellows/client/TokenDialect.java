package io.bellows.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.env.ModelRequest;
import io.bellows.env.ModelTurn;
import io.bellows.text.Tokenizer;
import java.util.stream.IntStream;

/** Token ids in, token ids and log-probs out. */
record TokenDialect(Tokenizer tokenizer) implements Dialect {

    @Override
    public String path() {
        return "/completions";
    }

    @Override
    public ObjectNode question(ModelRequest request) {
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        ArrayNode prompt = body.putArray("prompt");
        IntStream.of(request.promptIds()).forEach(prompt::add);
        body.put("max_tokens", request.maxTokens()).put("logprobs", 1).put("return_token_ids", true);
        ArrayNode stops = body.putArray("stop_token_ids");
        IntStream.of(tokenizer.stopIds()).forEach(stops::add);
        return body;
    }

    @Override
    public ModelTurn turn(JsonNode choice, Attempt attempt) throws InvalidAnswerException {
        JsonNode given = choice.path("token_ids");
        if (!given.isArray()) {
            throw new InvalidAnswerException("it has no token_ids; use a server that knows return_token_ids, such as"
                    + " vLLM or bellows serve, or ask by chat");
        }
        int[] ids = ids(given, attempt.request().maxTokens());
        return new ModelTurn(
                ids,
                logProbs(choice.at("/logprobs/token_logprobs"), ids.length),
                ModelTurn.decoder(tokenizer, ids),
                Dialect.finish(choice),
                0,
                attempt.millis(),
                null,
                attempt.retries());
    }

    private static int[] ids(JsonNode given, int most) throws InvalidAnswerException {
        if (given.isEmpty() || given.size() > most) {
            throw new InvalidAnswerException("it has " + given.size() + " token ids; 1 to " + most + " were asked for");
        }
        int[] ids = new int[given.size()];
        for (int i = 0; i < ids.length; i++) {
            if (!given.get(i).isInt() || given.get(i).intValue() < 0) {
                throw new InvalidAnswerException("token id " + i + " is " + given.get(i));
            }
            ids[i] = given.get(i).intValue();
        }
        return ids;
    }

    /** Empty where the server does not tell all of them. */
    private static float[] logProbs(JsonNode given, int length) throws InvalidAnswerException {
        if (given.isArray() && given.size() != length) {
            throw new InvalidAnswerException("it has " + length + " token ids and " + given.size() + " log-probs");
        }
        float[] logProbs = new float[given.size()];
        for (int i = 0; i < logProbs.length; i++) {
            if (!given.get(i).isNumber() || !(given.get(i).floatValue() <= 0)) {
                return new float[0];
            }
            logProbs[i] = given.get(i).floatValue();
        }
        return logProbs;
    }
}
