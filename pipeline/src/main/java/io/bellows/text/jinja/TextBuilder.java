package io.bellows.text.jinja;

import java.util.Arrays;

/** Joins texts, keeping their content spans; refuses to grow beyond a bound. */
final class TextBuilder {

    /** Longest text a template may build, in UTF-16 units: several times the longest context of today's models. */
    static final int MAX_LENGTH = 1 << 24;

    private final StringBuilder value = new StringBuilder();
    private int[] spans = new int[8];
    private int count;

    TextBuilder append(Text text) {
        int shift = value.length();
        append(text.value());
        int[] added = text.contentSpans();
        for (int i = 0; i < added.length; i += 2) {
            addSpan(added[i] + shift, added[i + 1] + shift);
        }
        return this;
    }

    /** Appends text of the template. */
    TextBuilder append(String text) {
        if (value.length() + (long) text.length() > MAX_LENGTH) {
            throw new OperationException("Cannot build a text of more than " + MAX_LENGTH + " characters");
        }
        value.append(text);
        return this;
    }

    int length() {
        return value.length();
    }

    Text build() {
        return Text.of(value.toString(), Arrays.copyOf(spans, count));
    }

    private void addSpan(int start, int end) {
        if (count > 0 && spans[count - 1] == start) {
            spans[count - 1] = end;
            return;
        }
        if (count == spans.length) {
            spans = Arrays.copyOf(spans, 2 * count);
        }
        spans[count++] = start;
        spans[count++] = end;
    }
}
