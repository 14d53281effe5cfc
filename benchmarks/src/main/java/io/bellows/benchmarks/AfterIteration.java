package io.bellows.benchmarks;

import io.bellows.run.Progress;
import java.util.Map;

/**
 * Does something after each iteration, whose time it does not count in.
 *
 * @param action what
 */
record AfterIteration(Runnable action) implements Progress {

    @Override
    public void header(Map<String, String> facts) {}

    @Override
    public Stage start(int iteration, String name, long total, String unit) {
        return units -> {};
    }

    @Override
    public void metrics(int iteration, Map<String, Double> metrics) {
        action.run();
    }

    @Override
    public void message(String line) {}
}
