package io.bellows.text.jinja;

import java.util.List;

/** What {@code range()} returns. */
record Range(List<Object> items) {}
