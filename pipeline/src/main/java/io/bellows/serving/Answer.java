package io.bellows.serving;

import io.bellows.engine.FinishReason;
import io.bellows.engine.Generation;
import io.bellows.text.SpecialTokens;
import io.bellows.text.Tokenizer;
import java.util.List;

/**
 * One answer of the model.
 *
 * @param index its place among the answers to the request
 * @param text what its reader may see
 * @param textWithSpecialTokens the same with special tokens, as calls of tools may be written in them, but without the one that ended it
 * @param generation its tokens
 */
record Answer(int index, String text, String textWithSpecialTokens, Generation generation) {

    static Answer of(int index, Generation generation, ServedModel model, List<String> stops) {
        Tokenizer tokenizer = model.text().tokenizer();
        return new Answer(
                index,
                text(generation, generation.ids().length, new VisibleText(tokenizer, stops)),
                text(
                        generation,
                        lengthWithoutEnd(generation, tokenizer),
                        new VisibleText(tokenizer, stops, SpecialTokens.KEEP)),
                generation);
    }

    private static String text(Generation generation, int length, VisibleText visible) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < length; i++) {
            text.append(visible.push(generation.ids()[i]));
        }
        return text.append(visible.end()).toString();
    }

    private static int lengthWithoutEnd(Generation generation, Tokenizer tokenizer) {
        int length = generation.ids().length;
        boolean special = length > 0
                && generation.finishReason() == FinishReason.STOP
                && tokenizer
                        .decode(new int[] {generation.ids()[length - 1]}, SpecialTokens.SKIP)
                        .isEmpty();
        return special ? length - 1 : length;
    }

    /** Why it ended, as the protocol names it. */
    String finishReason() {
        return generation.finishReason() == FinishReason.STOP ? "stop" : "length";
    }
}
