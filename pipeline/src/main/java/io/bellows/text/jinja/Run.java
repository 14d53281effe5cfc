package io.bellows.text.jinja;

import java.time.Duration;

/** The bounds of one rendering: a downloaded template must not take a machine down. */
final class Run {

    static final int MAX_STEPS = 10_000_000;
    static final int MAX_DEPTH = 400;
    static final Duration MAX_TIME = Duration.ofSeconds(60);

    private static final int SIZE_PER_STEP = 64; // handling this many characters or items counts as a step
    private static final int STEPS_PER_CLOCK = 32;

    private final long start = System.nanoTime();
    private long steps;
    private long nextClock;
    private int depth;

    /** Counts the begin of an evaluation or a statement; {@link #leave} ends it. */
    void enter(int line) {
        if (++depth > MAX_DEPTH) {
            throw new TemplateException(
                    "Cannot render the template: calls and expressions nest more than " + MAX_DEPTH + " deep", line);
        }
        count(1, line);
    }

    void leave() {
        depth--;
    }

    /** Counts the work that a value of some size makes. */
    void countSize(long size, int line) {
        count(size / SIZE_PER_STEP, line);
    }

    private void count(long more, int line) {
        steps += more;
        if (steps > MAX_STEPS) {
            throw new TemplateException("Cannot render the template: it takes more than " + MAX_STEPS + " steps", line);
        }
        if (steps >= nextClock) {
            nextClock = steps + STEPS_PER_CLOCK;
            if (System.nanoTime() - start > MAX_TIME.toNanos()) {
                throw new TemplateException(
                        "Cannot render the template: it takes more than " + MAX_TIME.toSeconds() + " seconds", line);
            }
        }
    }
}
