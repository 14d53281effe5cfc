package io.bellows.benchmarks;

import io.bellows.run.Progress;
import java.util.Map;

/**
 * Does something when a run comes to a stage.
 *
 * @param iteration counted from 1
 * @param stage such as {@code update_actor}
 * @param action what to do, in the driver's thread
 */
record AtStage(int iteration, String stage, Runnable action) implements Progress {

    @Override
    public void header(Map<String, String> facts) {}

    @Override
    public Stage start(int number, String name, long total, String unit) {
        if (number == iteration && name.equals(stage)) {
            action.run();
        }
        return units -> {};
    }

    @Override
    public void metrics(int number, Map<String, Double> metrics) {}

    @Override
    public void message(String line) {}
}
