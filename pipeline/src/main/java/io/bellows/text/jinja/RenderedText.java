package io.bellows.text.jinja;

import java.util.Arrays;

/** What a template wrote, and which of it came from content rather than from the template itself. */
public final class RenderedText {

    private final Text text;

    RenderedText(Text text) {
        this.text = text;
    }

    /** The text. */
    public String value() {
        return text.value();
    }

    /** Whether the template itself wrote every character in {@code [start, end)}. */
    public boolean isTemplateText(int start, int end) {
        int[] spans = text.contentSpans();
        // The first span that ends behind start is the only one that can be the first to overlap.
        int low = 0;
        int high = spans.length / 2;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (spans[2 * middle + 1] <= start) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return 2 * low >= spans.length || spans[2 * low] >= end;
    }

    /** The first {@code end} characters. */
    public RenderedText prefix(int end) {
        return new RenderedText(text.substring(0, end));
    }

    /** Start and end of the parts that came from content, in order. */
    public int[] contentSpans() {
        return Arrays.copyOf(text.contentSpans(), text.contentSpans().length);
    }

    @Override
    public String toString() {
        return text.value();
    }
}
