package io.bellows.text.jinja;

/** How a statement ended. */
enum Flow {
    NEXT,
    BREAK,
    CONTINUE
}
