package io.bellows.text.jinja;

import java.util.List;

/** Python's immutable sequence, which prints with round brackets and equals no list. */
record Tuple(List<Object> items) {}
