package io.bellows.text.jinja;

/** A part of a template that has a value. */
interface Expression {

    /** Where it begins. */
    int line();

    /** Its value; called by {@link Frame#evaluate} only. */
    Object evaluate(Frame frame);
}
