package io.bellows.run;

import java.util.List;
import java.util.Map;

/**
 * What a run came to.
 *
 * @param run its directory, absolute path or URI
 * @param iterations the last committed iteration, counted from the beginning of the run; optimizer steps for supervised fine-tuning
 * @param accuracyStart share of the validation problems solved before the first iteration, 0 to 1; NaN when not validated
 * @param accuracyEnd the same after the last one
 * @param seconds wall-clock time of this start, validation included
 * @param metrics per iteration, of the whole run, in order: verl's names to values
 */
public record RunSummary(
        String run,
        int iterations,
        double accuracyStart,
        double accuracyEnd,
        double seconds,
        List<Map<String, Double>> metrics) {

    /** Copies the list. */
    public RunSummary {
        metrics = List.copyOf(metrics);
    }
}
