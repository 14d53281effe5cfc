package io.bellows.env;

import io.bellows.text.Message;
import io.bellows.text.SpecialTokens;
import io.bellows.text.Tokenizer;
import java.util.Arrays;
import java.util.function.Function;

/**
 * What a model answered.
 *
 * @param ids the tokens, with the one that ended the turn
 * @param logProbs log-probability of each token at the sampling temperature; empty where a server tells none: then the tokens are not
 *     marked as sampled
 * @param decoder gives the same as text, without the token that ended the turn, when it is asked for
 * @param finish why it ended
 * @param weightsVersion version of the weights that sampled it
 * @param millis how long it took
 * @param message the turn as a server took it apart, with its calls of tools, or null where only its text is known
 * @param retries how often it was asked for again
 */
@SuppressWarnings("ArrayRecordComponent") // carried, never compared
public record ModelTurn(
        int[] ids,
        float[] logProbs,
        Function<SpecialTokens, String> decoder,
        Finish finish,
        long weightsVersion,
        long millis,
        Message message,
        int retries) {

    /** A turn of which only the text is known, from the first attempt. */
    public ModelTurn(
            int[] ids,
            float[] logProbs,
            Function<SpecialTokens, String> decoder,
            Finish finish,
            long weightsVersion,
            long millis) {
        this(ids, logProbs, decoder, finish, weightsVersion, millis, null, 0);
    }

    /** What turns the ids of a turn into text: without the token that ended it, if one of the tokenizer's stop ids did. */
    public static Function<SpecialTokens, String> decoder(Tokenizer tokenizer, int[] ids) {
        boolean stopped =
                ids.length > 0 && Arrays.stream(tokenizer.stopIds()).anyMatch(stop -> stop == ids[ids.length - 1]);
        int[] shown = stopped ? Arrays.copyOf(ids, ids.length - 1) : ids;
        return specialTokens -> tokenizer.decode(shown, specialTokens);
    }

    /** The text of the tokens, without special tokens. */
    public String text() {
        return decoder.apply(SpecialTokens.SKIP);
    }

    /** The text of the tokens, with the special tokens that may open a tool call. */
    public String textWithSpecialTokens() {
        return decoder.apply(SpecialTokens.KEEP);
    }

    /** Why a turn ended. */
    public enum Finish {
        /** The model ended it. */
        STOP("stop"),
        /** The limit on its tokens did. */
        LENGTH("length"),
        /** It was aborted; the tokens are those sampled until then. */
        ABORT("abort");

        private final String text;

        Finish(String text) {
            this.text = text;
        }

        /** The value of {@code finish_reason}. */
        public String text() {
            return text;
        }
    }
}
