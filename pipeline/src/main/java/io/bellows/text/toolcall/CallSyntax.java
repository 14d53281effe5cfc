package io.bellows.text.toolcall;

import java.util.List;

/** Where a call begins in one format, and how it is read. */
interface CallSyntax {

    /** Texts that begin a call wherever they stand outside of think blocks; the longest that fits counts. */
    List<String> openings();

    /** Whether a turn may begin with a call that has no opening. {@code start} is its first character that is not white space. */
    default boolean opensBare(String text, int start) {
        return false;
    }

    /**
     * Reads what begins at {@code start} and reports each call to {@code calls}.
     *
     * @return where the text goes on behind it, greater than {@code start}
     */
    int read(String text, int start, Calls calls);

    /** Takes in the calls of a turn. */
    interface Calls {

        /** A call that was read. */
        void add(String name, String arguments);

        /** Something else: what was wrong with {@code text[from, to)}. */
        void addMalformed(int from, int to, String problem);
    }
}
