package io.bellows.text.toolcall;

/** How a turn ended, as far as it matters to a call at its end. */
public enum TurnEnd {
    /** The model ended the turn. */
    COMPLETE,
    /** A limit ended it: a call at the end may be unfinished. */
    CUT_OFF
}
