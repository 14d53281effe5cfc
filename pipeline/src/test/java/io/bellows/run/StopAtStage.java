package io.bellows.run;

import java.util.Map;
import java.util.function.IntPredicate;

/**
 * A run that stops as if its process had died, when a stage starts.
 *
 * @param stage name of the stage
 * @param when whether to stop, by iteration
 */
record StopAtStage(String stage, IntPredicate when) implements Progress {

    static final class Stopped extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    @Override
    public void header(Map<String, String> facts) {}

    @Override
    public Stage start(int iteration, String name, long total, String unit) {
        if (name.equals(stage) && when.test(iteration)) {
            throw new Stopped();
        }
        return units -> {};
    }

    @Override
    public void metrics(int committedIteration, Map<String, Double> metrics) {}

    @Override
    public void message(String line) {}
}
