package io.bellows.text.jinja;

/** Something a template can call: a macro, a function, a method. */
@FunctionalInterface
interface Callable {

    Object call(Arguments arguments);
}
