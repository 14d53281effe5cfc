package io.bellows.env;

import io.bellows.reward.RewardOutcome.Status;
import io.bellows.reward.RewardScore;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.StringJoiner;

/** A reward that is being added up: it exists if every term with a weight other than 0 has a value. */
final class Tally {

    private final Map<String, Double> components = new LinkedHashMap<>();
    private final StringJoiner messages = new StringJoiner("; ");
    private double sum;
    private boolean complete = true;
    private boolean failed;

    /** Goes on from a score, or from nothing where it is null. */
    static Tally of(RewardScore before) {
        Tally tally = new Tally();
        if (before != null) {
            tally.components.putAll(before.components());
            tally.complete = before.reward() != null;
            tally.sum = tally.complete ? before.reward() : 0;
            tally.failed = before.status() == Status.FAILED;
            if (before.message() != null) {
                tally.messages.add(before.message());
            }
        }
        return tally;
    }

    /** Adds the value of a term, null if it has none. */
    void add(double weight, Double value) {
        complete &= value != null || weight == 0;
        sum += value == null || weight == 0 ? 0 : weight * value;
    }

    /** Records a value under its name. */
    void record(String name, Double value) {
        components.put(name, value);
    }

    void cannotSay(String name, String why) {
        messages.add(name + ": " + MultiTurnEnv.text(why));
    }

    void fail(String name, String why) {
        failed = true;
        cannotSay(name, why);
    }

    RewardScore score() {
        if (complete && !Double.isFinite(sum)) {
            fail("reward", "the weighted sum " + sum + " is no finite number");
        }
        Status status = failed ? Status.FAILED : complete ? Status.SCORED : Status.UNSCORED;
        return new RewardScore(
                complete && Double.isFinite(sum) ? (Double) sum : null,
                Collections.unmodifiableMap(components),
                status,
                messages.length() == 0 ? null : messages.toString());
    }
}
