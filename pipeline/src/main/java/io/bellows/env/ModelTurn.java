package io.bellows.env;

import io.bellows.text.SpecialTokens;
import java.util.function.Function;

/**
 * What a model answered.
 *
 * @param ids the tokens, with the one that ended the turn
 * @param logProbs log-probability of each token at the sampling temperature
 * @param decoder gives the same as text, without the token that ended the turn, when it is asked for
 * @param finish why it ended
 * @param weightsVersion version of the weights that sampled it
 * @param millis how long it took
 */
@SuppressWarnings("ArrayRecordComponent") // carried, never compared
public record ModelTurn(
        int[] ids,
        float[] logProbs,
        Function<SpecialTokens, String> decoder,
        Finish finish,
        long weightsVersion,
        long millis) {

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
