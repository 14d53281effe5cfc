package io.bellows.text.jinja;

/** A part of a template that writes or sets something. */
interface Statement {

    /** Where it begins. */
    int line();

    /** Does what it says; called by {@link Frame#execute} only. */
    Flow execute(Frame frame, TextBuilder out);
}
