package io.bellows.serving;

import io.bellows.engine.GenerationRequest;
import io.bellows.engine.SamplingParams;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.LongStream;

/**
 * How a request wants its answers drawn.
 *
 * @param n answers
 * @param maxTokens most tokens of an answer; -1 is what the model's positions leave
 */
record Sampling(
        int n, double temperature, int topK, double topP, double minP, int maxTokens, List<String> stop, long seed) {

    private static final int MOST_ANSWERS = 128;
    private static final int MOST_STOPS = 16;

    /** Reads the fields that both kinds of completions share. */
    static Sampling read(RequestBody body, int maxTokens) {
        body.refuse("logit_bias", bias -> bias.isEmpty());
        body.refuse("frequency_penalty", penalty -> penalty.doubleValue() == 0);
        body.refuse("presence_penalty", penalty -> penalty.doubleValue() == 0);
        body.refuse("repetition_penalty", penalty -> penalty.doubleValue() == 1);
        body.refuse("top_logprobs", count -> count.intValue() == 0);
        int n = body.integer("n", 1);
        if (n < 1 || n > MOST_ANSWERS) {
            throw ApiException.badRequest("n", "Invalid n " + n + ": expected 1 to " + MOST_ANSWERS);
        }
        List<String> stop = body.texts("stop");
        if (stop.size() > MOST_STOPS) {
            throw ApiException.badRequest(
                    "stop", "Invalid stop with " + stop.size() + " strings: expected at most " + MOST_STOPS);
        }
        return new Sampling(
                n,
                body.number("temperature", 1),
                body.integer("top_k", -1),
                body.number("top_p", 1),
                body.number("min_p", 0),
                maxTokens,
                stop,
                body.seed("seed", ThreadLocalRandom.current().nextLong()));
    }

    /** The engine's request for a prompt. */
    GenerationRequest request(int[] prompt, ServedModel model) {
        int room = model.positions() - prompt.length;
        int most = maxTokens == -1 ? room : maxTokens;
        if (prompt.length == 0 || most > room || room < 1) {
            throw ApiException.badRequest(
                    "messages",
                    "Cannot fit a prompt of " + prompt.length + " tokens and " + Math.max(most, 1)
                            + " of the answer: the model takes " + model.positions() + " together, at least 1 of each");
        }
        try {
            SamplingParams params = new SamplingParams(
                    temperature,
                    topK,
                    topP,
                    minP,
                    most,
                    model.text().tokenizer().stopIds(),
                    stop);
            return new GenerationRequest(
                    prompt, params, LongStream.range(seed, seed + n).toArray());
        } catch (IllegalArgumentException e) {
            throw ApiException.badRequest(null, e.getMessage());
        }
    }
}
