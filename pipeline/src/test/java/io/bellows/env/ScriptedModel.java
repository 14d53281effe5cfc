package io.bellows.env;

import io.bellows.text.SpecialTokens;
import io.bellows.text.Tokenizer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/** A model that says what a test wants, as tokens of a real tokenizer. */
final class ScriptedModel implements ModelClient {

    private final Function<ModelRequest, CompletableFuture<ModelTurn>> script;
    final List<ModelRequest> requests = Collections.synchronizedList(new ArrayList<>());
    final AtomicInteger left = new AtomicInteger();

    ScriptedModel(Function<ModelRequest, CompletableFuture<ModelTurn>> script) {
        this.script = script;
    }

    /** Says these texts, one a turn, each ended by the end token. */
    static ScriptedModel saying(Tokenizer tokenizer, String... texts) {
        return new ScriptedModel(
                request -> CompletableFuture.completedFuture(turn(tokenizer, request, texts[request.turn()])));
    }

    /** A turn of a text, cut at the request's limit. */
    static ModelTurn turn(Tokenizer tokenizer, ModelRequest request, String text) {
        int[] content = tokenizer.encodeContent(text);
        int[] ids = java.util.Arrays.copyOf(content, content.length + 1);
        ids[content.length] = tokenizer.eosId().getAsInt();
        boolean cut = ids.length > request.maxTokens();
        return turn(
                tokenizer,
                cut ? java.util.Arrays.copyOf(ids, request.maxTokens()) : ids,
                cut ? ModelTurn.Finish.LENGTH : ModelTurn.Finish.STOP);
    }

    static ModelTurn turn(Tokenizer tokenizer, int[] ids, ModelTurn.Finish finish) {
        float[] logProbs = new float[ids.length];
        java.util.Arrays.fill(logProbs, -0.5f);
        return new ModelTurn(ids, logProbs, kept -> text(tokenizer, ids, kept), finish, 3, 1);
    }

    private static String text(Tokenizer tokenizer, int[] ids, SpecialTokens special) {
        boolean ended = ids[ids.length - 1] == tokenizer.eosId().getAsInt();
        return tokenizer.decode(ended ? java.util.Arrays.copyOf(ids, ids.length - 1) : ids, special);
    }

    @Override
    public Call generate(ModelRequest request) {
        requests.add(request);
        CompletableFuture<ModelTurn> turn = script.apply(request);
        return new Call() {
            @Override
            public CompletableFuture<ModelTurn> turn() {
                return turn;
            }

            @Override
            public void abort() {
                turn.cancel(false);
            }
        };
    }

    @Override
    public void leave(ModelRequest.TrajectoryId trajectory) {
        left.incrementAndGet();
    }
}
