package io.bellows.config;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** Finds the known name a mistyped one most likely meant. */
final class NearestName {

    private NearestName() {}

    /** The nearest of {@code known} by edit distance, if it is near enough to be a slip of the hand. */
    static Optional<String> of(String name, Collection<String> known) {
        int tolerance = Math.max(2, name.length() / 3);
        return known.stream()
                .filter(candidate -> distance(name, candidate) <= tolerance)
                .min(Comparator.comparingInt((String candidate) -> distance(name, candidate))
                        .thenComparing(Comparator.naturalOrder()));
    }

    private static int distance(String a, String b) {
        int[] previous = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            previous[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int[] row = new int[b.length() + 1];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int replaced = previous[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                row[j] = Math.min(replaced, Math.min(previous[j], row[j - 1]) + 1);
            }
            previous = row;
        }
        return previous[b.length()];
    }
}
