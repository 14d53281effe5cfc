/**
 * An interpreter of the Jinja that Hugging Face chat templates are written in, with Python's meaning of values, text and
 * truth. Whatever lies outside the subset is an error that names it and its line, never wrong text. Templates come with
 * downloaded models and are not trusted: they reach nothing but their variables, and their time, depth and output are
 * bounded.
 */
package io.bellows.text.jinja;
