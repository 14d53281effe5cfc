package io.bellows.engine;

import java.util.List;
import java.util.function.IntFunction;

/** Watches a response's text for one of its stop strings. */
final class StopText {

    private final List<String> stops;
    private final int longest;
    private final IntFunction<String> decoder;
    private final StringBuilder tail = new StringBuilder();

    StopText(List<String> stops, IntFunction<String> decoder) {
        this.stops = stops;
        this.longest = stops.stream().mapToInt(String::length).max().orElse(0);
        this.decoder = decoder;
    }

    /** Takes the next token; whether its text completes a stop string. */
    boolean completedBy(int id) {
        tail.append(decoder.apply(id));
        boolean found = stops.stream().anyMatch(stop -> tail.indexOf(stop) >= 0);
        tail.delete(0, Math.max(0, tail.length() - longest + 1)); // more cannot be the start of a stop string
        return found;
    }
}
