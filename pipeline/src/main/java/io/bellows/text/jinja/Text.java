package io.bellows.text.jinja;

import java.util.Arrays;

/**
 * A string that knows which of its characters came from content, that is from messages, tools and documents, and not from
 * the template. Every operation carries this along, so that special tokens can later be told from text that spells one.
 * Positions are UTF-16 indexes here; what the template counts are code points.
 */
final class Text {

    static final Text EMPTY = new Text("", new int[0], false);

    private static final int[] NO_SPANS = {};

    private final String value;
    private final int[] content; // ascending, disjoint pairs of start and end
    private final boolean markup; // came out of the filter "safe"

    private Text(String value, int[] content, boolean markup) {
        this.value = value;
        this.content = content;
        this.markup = markup;
    }

    /** Text of the template. */
    static Text of(String value) {
        return new Text(value, NO_SPANS, false);
    }

    /** Text of a message, a tool or a document. */
    static Text ofContent(String value) {
        return value.isEmpty() ? EMPTY : new Text(value, new int[] {0, value.length()}, false);
    }

    /** Text with the given content spans, which it takes over. */
    static Text of(String value, int[] contentSpans) {
        return new Text(value, contentSpans, false);
    }

    String value() {
        return value;
    }

    int[] contentSpans() {
        return content;
    }

    boolean hasContent() {
        return content.length > 0;
    }

    boolean isMarkup() {
        return markup;
    }

    Text asMarkup() {
        return new Text(value, content, true);
    }

    /** The part from {@code start} to {@code end}, both UTF-16 indexes. */
    Text substring(int start, int end) {
        if (start == 0 && end == value.length()) {
            return this;
        }
        return new Text(value.substring(start, end), clipped(start, end), false);
    }

    private int[] clipped(int start, int end) {
        int[] spans = new int[content.length];
        int count = 0;
        for (int i = 0; i < content.length; i += 2) {
            int from = Math.max(content[i], start);
            int to = Math.min(content[i + 1], end);
            if (from < to) {
                spans[count++] = from - start;
                spans[count++] = to - start;
            }
        }
        return Arrays.copyOf(spans, count);
    }

    /** This text rewritten as a whole: where the parts went is known only if no length changed. */
    Text rewritten(String changed) {
        if (!hasContent()) {
            return of(changed);
        }
        return changed.length() == value.length() ? new Text(changed, content, false) : ofContent(changed);
    }

    /** Number of code points. */
    int length() {
        return value.codePointCount(0, value.length());
    }

    /** UTF-16 index of a code point. */
    int offset(int codePoint) {
        return value.offsetByCodePoints(0, codePoint);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Text text && text.value.equals(value);
    }

    @Override
    public int hashCode() {
        return value.hashCode();
    }

    @Override
    public String toString() {
        return value;
    }
}
