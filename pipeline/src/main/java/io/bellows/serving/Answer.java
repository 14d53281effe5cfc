package io.bellows.serving;

import io.bellows.engine.FinishReason;
import io.bellows.engine.Generation;
import java.util.List;

/**
 * One answer of the model.
 *
 * @param index its place among the answers to the request
 * @param text what its reader may see
 * @param generation its tokens
 */
record Answer(int index, String text, Generation generation) {

    static Answer of(int index, Generation generation, ServedModel model, List<String> stops) {
        VisibleText visible = new VisibleText(model.text().tokenizer(), stops);
        StringBuilder text = new StringBuilder();
        for (int id : generation.ids()) {
            text.append(visible.push(id));
        }
        return new Answer(index, text.append(visible.end()).toString(), generation);
    }

    /** Why it ended, as the protocol names it. */
    String finishReason() {
        return generation.finishReason() == FinishReason.STOP ? "stop" : "length";
    }
}
