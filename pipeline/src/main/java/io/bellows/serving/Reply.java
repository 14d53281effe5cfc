package io.bellows.serving;

import com.fasterxml.jackson.databind.node.ObjectNode;

/** How one kind of completion writes its answers, whole or in pieces. */
interface Reply {

    /** Value of {@code object}, whole. */
    String object();

    /** Value of {@code object} of a piece. */
    String chunkObject();

    /** Start of every identifier. */
    String idPrefix();

    /** A whole answer. */
    ObjectNode choice(Answer answer);

    /** The first piece of an answer, before any text; null if there is none. */
    ObjectNode opening(int index);

    /** A piece of text. */
    ObjectNode piece(int index, String text);

    /** The last piece: what is known only at the end. */
    ObjectNode closing(Answer answer);

    /** Whether text may be shown before the answer is whole. */
    boolean showsEarly();
}
