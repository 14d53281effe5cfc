package io.bellows.serving;

import io.bellows.text.SpecialTokens;
import io.bellows.text.StreamingDecoder;
import io.bellows.text.Tokenizer;
import java.util.List;

/**
 * Text of an answer as its reader may see it, token by token: without special tokens, and without the stop string that ends
 * it. What may be the start of a stop string is held back until that is settled.
 */
final class VisibleText {

    private final StreamingDecoder decoder;
    private final List<String> stops;
    private final StringBuilder held = new StringBuilder();
    private boolean stopped;

    VisibleText(Tokenizer tokenizer, List<String> stops) {
        this(tokenizer, stops, SpecialTokens.SKIP);
    }

    VisibleText(Tokenizer tokenizer, List<String> stops, SpecialTokens specialTokens) {
        this.decoder = new StreamingDecoder(tokenizer, specialTokens);
        this.stops = stops;
    }

    /** Takes the next token and returns what became visible, often nothing. */
    String push(int id) {
        return take(decoder.push(id), false);
    }

    /** Ends the answer and returns what was held back. */
    String end() {
        return take(decoder.flush(), true);
    }

    private String take(String piece, boolean last) {
        if (stopped) {
            return "";
        }
        held.append(piece);
        int stop = stops.stream()
                .mapToInt(held::indexOf)
                .filter(at -> at >= 0)
                .min()
                .orElse(-1);
        stopped = stop >= 0;
        int visible = stopped ? stop : last ? held.length() : held.length() - possibleStart();
        String text = held.substring(0, visible);
        held.delete(0, visible);
        return text;
    }

    /** Length of the longest end of the text that begins a stop string. */
    private int possibleStart() {
        int longest = 0;
        for (String stop : stops) {
            for (int length = Math.min(stop.length() - 1, held.length()); length > longest; length--) {
                if (stop.startsWith(held.substring(held.length() - length))) {
                    longest = length;
                }
            }
        }
        return longest;
    }
}
