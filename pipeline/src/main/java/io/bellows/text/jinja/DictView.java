package io.bellows.text.jinja;

import java.util.List;

/** What {@code items()}, {@code keys()} and {@code values()} of a dict return: can be looped over, not indexed. */
record DictView(List<Object> items) {}
